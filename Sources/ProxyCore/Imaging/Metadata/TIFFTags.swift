// SPDX-License-Identifier: Apache-2.0

/// Maker and copyright for a TIFF that lacks them: another first directory at the file's end, and what points there
/// (TIFF 6.0 §2).
struct TIFFTags {
    /// The texts and the directory, behind all that is there.
    let directory: Insertion
    /// The file's word on where its first directory is.
    let pointer: Insertion

    private static let pointerPlace = 4
    private static let entryLength = 12

    /// Reads the first directory of a little-endian file; nil for any other, and where there is nothing to say.
    init?(_ ownership: Ownership, of file: [UInt8]) {
        func number(_ place: Int, _ length: Int) -> Int? {
            guard place >= 0, place + length <= file.count else { return nil }
            return file[place..<place + length].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        guard !ownership.isEmpty, file.starts(with: [0x49, 0x49, 0x2A, 0x00]),
            let start = number(Self.pointerPlace, 4), let count = number(start, 2),
            let next = number(start + 2 + count * Self.entryLength, 4)
        else { return nil }
        var entries = (0..<count).map { index in
            let place = start + 2 + index * Self.entryLength
            return Array(file[place..<place + Self.entryLength])
        }
        // Texts and directories begin at even places.
        var added = [UInt8](repeating: 0, count: file.count % 2)
        for (tag, text) in [(ExifBlock.Tag.artist, ownership.artist), (.copyright, ownership.copyright)] {
            guard let text else { continue }
            let bytes = Array(text.utf8) + [0]
            var value = bytes
            if bytes.count > 4 {
                value = Self.little(file.count + added.count, 4)
                added += bytes + [UInt8](repeating: 0, count: bytes.count % 2)
            }
            value += [UInt8](repeating: 0, count: 4 - value.count)
            entries.removeAll { $0[0] == UInt8(tag.rawValue & 0xFF) && $0[1] == UInt8(tag.rawValue >> 8) }
            // Type 2 is ASCII.
            entries.append(
                Self.little(tag.rawValue, 2) + Self.little(2, 2) + Self.little(bytes.count, 4) + value)
        }
        entries.sort { (Int($0[1]) << 8 | Int($0[0])) < (Int($1[1]) << 8 | Int($1[0])) }
        pointer = Insertion(
            bytes: Self.little(file.count + added.count, 4), offset: Self.pointerPlace)
        directory = Insertion(
            bytes: added + Self.little(entries.count, 2) + entries.flatMap { $0 } + Self.little(next, 4),
            offset: file.count)
    }

    private static func little(_ value: Int, _ length: Int) -> [UInt8] {
        (0..<length).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}
