// SPDX-License-Identifier: Apache-2.0

/// Artist and copyright for a TIFF, or a similar structure, that lacks them: a new first directory at the end
/// of the file, and the pointer to it (TIFF 6.0 §2).
struct TIFFTags {
    /// The texts and the directory, appended to the file.
    let directory: Insertion
    /// The file's pointer to its first directory.
    let pointer: Insertion

    private static let pointerPlace = 4
    private static let entryLength = 12

    /// Reads the first directory; nil for a BigTIFF or a malformed file, and if no text is missing.
    init?(_ ownership: Ownership, of file: [UInt8]) {
        let isLittleEndian = file.starts(with: [0x49, 0x49, 0x2A, 0x00])
        func number(_ place: Int, _ length: Int) -> Int? {
            guard place >= 0, place + length <= file.count else { return nil }
            let part = file[place..<place + length]
            return (isLittleEndian ? Array(part.reversed()) : Array(part)).reduce(0) { $0 << 8 | Int($1) }
        }
        func bytes(_ value: Int, _ length: Int) -> [UInt8] {
            let little = (0..<length).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
            return isLittleEndian ? little : little.reversed()
        }
        guard !ownership.isEmpty, isLittleEndian || file.starts(with: [0x4D, 0x4D, 0x00, 0x2A]),
            let start = number(Self.pointerPlace, 4), let count = number(start, 2),
            let next = number(start + 2 + count * Self.entryLength, 4)
        else { return nil }
        var entries = (0..<count).map { index in
            let place = start + 2 + index * Self.entryLength
            return Array(file[place..<place + Self.entryLength])
        }
        // Texts and directories begin at even offsets.
        var added = [UInt8](repeating: 0, count: file.count % 2)
        for (tag, text) in [(ExifBlock.Tag.artist, ownership.artist), (.copyright, ownership.copyright)] {
            guard let text else { continue }
            let letters = Array(text.utf8) + [0]
            var value = letters
            if letters.count > 4 {
                value = bytes(file.count + added.count, 4)
                added += letters + [UInt8](repeating: 0, count: letters.count % 2)
            }
            value += [UInt8](repeating: 0, count: 4 - value.count)
            entries.removeAll { $0.starts(with: bytes(tag.rawValue, 2)) }
            // Type 2 is ASCII.
            entries.append(bytes(tag.rawValue, 2) + bytes(2, 2) + bytes(letters.count, 4) + value)
        }
        func tag(_ entry: [UInt8]) -> Int {
            isLittleEndian ? Int(entry[1]) << 8 | Int(entry[0]) : Int(entry[0]) << 8 | Int(entry[1])
        }
        entries.sort { tag($0) < tag($1) }
        pointer = Insertion(bytes: bytes(file.count + added.count, 4), offset: Self.pointerPlace)
        directory = Insertion(
            bytes: added + bytes(entries.count, 2) + entries.flatMap { $0 } + bytes(next, 4),
            offset: file.count)
    }
}
