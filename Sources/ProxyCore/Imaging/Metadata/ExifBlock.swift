// SPDX-License-Identifier: Apache-2.0

/// EXIF metadata as a TIFF structure (EXIF 2.32 §4.5), of which the first directory is read.
struct ExifBlock {
    /// The structure, from its byte order mark on.
    private(set) var bytes: [UInt8]
    private var order: ByteOrder
    /// The positions of the first directory's entries, each 12 bytes long.
    private var entries: [Int] = []

    /// What stands before the structure in a JPEG.
    static let prefix = Array("Exif\0\0".utf8)
    /// The position of the pointer to the first directory.
    private static let pointer = 4
    private static let entryLength = 12
    /// The maximum number of entries that are read.
    private static let entryLimit = 512

    /// A tag of the first directory.
    enum Tag: Int {
        case orientation = 0x0112
        case artist = 0x013B
        case copyright = 0x8298
    }

    /// Reads a structure, with or without JPEG's marker before it; nil if it is malformed.
    init?(_ block: [UInt8]) {
        bytes = block.starts(with: Self.prefix) ? Array(block.dropFirst(Self.prefix.count)) : block
        switch bytes.prefix(4) {
        case [0x49, 0x49, 0x2A, 0x00]: order = .littleEndian
        case [0x4D, 0x4D, 0x00, 0x2A]: order = .bigEndian
        default: return nil
        }
        guard let start = number(Self.pointer, 4), let count = number(start, 2), count <= Self.entryLimit,
            start + 2 + count * Self.entryLength <= bytes.count
        else { return nil }
        entries = (0..<count).map { start + 2 + $0 * Self.entryLength }
    }

    private func number(_ offset: Int, _ length: Int) -> Int? {
        bytes.number(at: offset, length: length, order)
    }

    private func entry(_ tag: Tag) -> Int? { entries.first { number($0, 2) == tag.rawValue } }

    /// The text of a tag, nil if it is absent. Photographer and editor of a copyright are separated by a NUL (EXIF 2.32 §4.6.5).
    func text(_ tag: Tag) -> String? {
        // Type 2 is ASCII (TIFF 6.0 §2); up to four bytes are stored in the entry itself.
        guard let entry = entry(tag), number(entry + 2, 2) == 2, let count = number(entry + 4, 4), count > 0,
            let start = count > 4 ? number(entry + 8, 4) : entry + 8, start <= bytes.count,
            count <= bytes.count - start
        else { return nil }
        let parts = bytes[start..<start + count].split(separator: 0).map(Ownership.text)
        guard tag == .copyright else { return parts.first ?? "" }
        return parts.filter { !$0.allSatisfy(\.isWhitespace) }.joined(separator: ", ")
    }

    /// The orientation, 1–8; nil if it is absent.
    var orientation: Int? {
        guard let entry = entry(.orientation), number(entry + 2, 2) == 3, let value = number(entry + 8, 2)
        else { return nil }
        return (1...8).contains(value) ? value : nil
    }

    /// Sets an existing orientation to upright.
    mutating func resetOrientation() {
        guard let entry = entry(.orientation) else { return }
        // A short (type 3) is in the first two bytes of the value.
        bytes.replaceSubrange(entry + 8..<entry + 12, with: spelled(1, 2) + [0, 0])
    }

    /// Removes the second directory, and the bytes of the thumbnail that it describes (EXIF 2.32 §4.5.5): a changed picture
    /// does not look like that.
    mutating func removeThumbnail() {
        guard let start = number(Self.pointer, 4) else { return }
        let end = start + 2 + entries.count * Self.entryLength + 4
        guard let second = number(end - 4, 4), let count = number(second, 2), count <= Self.entryLimit else {
            return
        }
        func values(_ tag: Int) -> [Int] {
            let entry = (0..<count).map { second + 2 + $0 * Self.entryLength }.first { number($0, 2) == tag }
            // A short is 3, a long 4.
            guard let entry, let type = number(entry + 2, 2), let size = [3: 2, 4: 4][type],
                let count = number(entry + 4, 4), count <= bytes.count / size,
                let place = count * size <= 4 ? entry + 8 : number(entry + 8, 4)
            else { return [] }
            return (0..<count).compactMap { number(place + $0 * size, size) }
        }
        // JPEGInterchangeFormat and its length, and StripOffsets and StripByteCounts.
        for (places, lengths) in [(0x0201, 0x0202), (0x0111, 0x0117)] {
            for (from, length) in zip(values(places), values(lengths))
            where from >= end && from <= bytes.count && length <= bytes.count - from {
                bytes.replaceSubrange(from..<from + length, with: repeatElement(0, count: length))
                if from + length == bytes.count { bytes.removeLast(length) }
            }
        }
        bytes.replaceSubrange(end - 4..<end, with: repeatElement(0, count: 4))
    }

    // MARK: - Ownership

    /// Creates a structure that contains only the texts of an ownership; little-endian.
    init(_ ownership: Ownership) {
        // A directory without entries and without a next one.
        bytes = [0x49, 0x49, 0x2A, 0x00, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        order = .littleEndian
        self = adding(ownership)
    }

    /// Returns a copy with the ownership's texts in place of its own; unchanged if its first directory is
    /// incomplete.
    func adding(_ ownership: Ownership) -> ExifBlock {
        guard let (directory, pointer) = directory(with: ownership) else { return self }
        var changed = bytes + directory.bytes
        changed.replaceSubrange(
            pointer.offset..<pointer.offset + pointer.bytes.count, with: pointer.bytes)
        return ExifBlock(changed) ?? self
    }

    /// Artist and copyright for a TIFF, or a similar structure, that lacks them: a new first directory at the end
    /// of it, and the pointer to it (TIFF 6.0 §2).
    ///
    /// Nil if the first directory is incomplete, and if no text is missing.
    func directory(with ownership: Ownership) -> (directory: Insertion, pointer: Insertion)? {
        guard !ownership.isEmpty, let start = number(Self.pointer, 4),
            let next = number(start + 2 + entries.count * Self.entryLength, 4)
        else { return nil }
        var tags = entries.map { (tag: number($0, 2) ?? 0, bytes: Array(bytes[$0..<$0 + Self.entryLength])) }
        // Texts and directories begin at even offsets.
        var added = [UInt8](repeating: 0, count: bytes.count % 2)
        for (tag, text) in [(Tag.artist, ownership.artist), (.copyright, ownership.copyright)] {
            guard let text else { continue }
            let letters = Array(text.utf8) + [0]
            var value = letters
            if letters.count > 4 {
                value = spelled(bytes.count + added.count, 4)
                added += letters + [UInt8](repeating: 0, count: letters.count % 2)
            }
            value += [UInt8](repeating: 0, count: 4 - value.count)
            tags.removeAll { $0.tag == tag.rawValue }
            // Type 2 is ASCII.
            tags.append(
                (tag.rawValue, spelled(tag.rawValue, 2) + spelled(2, 2) + spelled(letters.count, 4) + value))
        }
        tags.sort { $0.tag < $1.tag }
        let directory = spelled(tags.count, 2) + tags.flatMap(\.bytes) + spelled(next, 4)
        return (
            directory: Insertion(bytes: added + directory, offset: bytes.count),
            pointer: Insertion(bytes: spelled(bytes.count + added.count, 4), offset: Self.pointer)
        )
    }

    /// A number in the structure's byte order.
    private func spelled(_ value: Int, _ length: Int) -> [UInt8] { order.bytes(of: value, length: length) }
}
