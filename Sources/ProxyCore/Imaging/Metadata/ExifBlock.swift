// SPDX-License-Identifier: Apache-2.0

/// EXIF metadata as a TIFF structure (EXIF 2.32 §4.5), of which the first directory is read.
struct ExifBlock {
    /// The structure, from its byte order mark on.
    private(set) var bytes: [UInt8]
    private let isLittleEndian: Bool
    /// The positions of the first directory's entries, each 12 bytes long.
    private let entries: [Int]

    private static let prefix = Array("Exif\0\0".utf8)
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
        case [0x49, 0x49, 0x2A, 0x00]: isLittleEndian = true
        case [0x4D, 0x4D, 0x00, 0x2A]: isLittleEndian = false
        default: return nil
        }
        guard let start = Self.number(bytes, 4, 4, isLittleEndian),
            let count = Self.number(bytes, start, 2, isLittleEndian), count <= Self.entryLimit,
            start + 2 + count * Self.entryLength <= bytes.count
        else { return nil }
        entries = (0..<count).map { start + 2 + $0 * Self.entryLength }
    }

    private static func number(_ bytes: [UInt8], _ offset: Int, _ length: Int, _ isLittleEndian: Bool) -> Int?
    {
        guard offset >= 0, offset + length <= bytes.count else { return nil }
        let part = bytes[offset..<offset + length]
        return (isLittleEndian ? Array(part.reversed()) : Array(part)).reduce(0) { $0 << 8 | Int($1) }
    }

    private func number(_ offset: Int, _ length: Int) -> Int? {
        Self.number(bytes, offset, length, isLittleEndian)
    }

    private func entry(_ tag: Tag) -> Int? { entries.first { number($0, 2) == tag.rawValue } }

    /// The text of a tag, up to its NUL; nil if it is absent.
    func text(_ tag: Tag) -> String? {
        // Type 2 is ASCII (TIFF 6.0 §2); up to four bytes are stored in the entry itself.
        guard let entry = entry(tag), number(entry + 2, 2) == 2, let count = number(entry + 4, 4), count > 0,
            let start = count > 4 ? number(entry + 8, 4) : entry + 8, start <= bytes.count,
            count <= bytes.count - start
        else { return nil }
        return String(decoding: bytes[start..<start + count].prefix { $0 != 0 }, as: UTF8.self)
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
        bytes.replaceSubrange(entry + 8..<entry + 12, with: isLittleEndian ? [1, 0, 0, 0] : [0, 1, 0, 0])
    }

    /// Returns a copy with the ownership's texts in place of its own; unchanged if its first directory is
    /// incomplete.
    func adding(_ ownership: Ownership) -> ExifBlock {
        guard let tags = TIFFTags(ownership, of: bytes) else { return self }
        var changed = bytes + tags.directory.bytes
        let place = tags.pointer.offset
        changed.replaceSubrange(place..<place + tags.pointer.bytes.count, with: tags.pointer.bytes)
        return ExifBlock(changed) ?? self
    }

    /// Creates a structure that contains only the texts of an ownership.
    init(_ ownership: Ownership) { self.init(artist: ownership.artist, copyright: ownership.copyright) }

    /// Creates a structure that contains only these texts; little-endian.
    init(artist: String?, copyright: String?) {
        let texts = [(Tag.artist, artist), (Tag.copyright, copyright)].compactMap { tag, text in
            text.map { (tag: tag, bytes: Array($0.utf8) + [0]) }
        }
        var head: [UInt8] = [0x49, 0x49, 0x2A, 0x00, 8, 0, 0, 0] + Self.little(texts.count, 2)
        var tail: [UInt8] = []
        let tailStart = head.count + texts.count * Self.entryLength + 4
        for (tag, text) in texts {
            head += Self.little(tag.rawValue, 2) + Self.little(2, 2) + Self.little(text.count, 4)
            if text.count > 4 {
                head += Self.little(tailStart + tail.count, 4)
                tail += text
            } else {
                head += text + [UInt8](repeating: 0, count: 4 - text.count)
            }
        }
        bytes = head + [0, 0, 0, 0] + tail
        isLittleEndian = true
        entries = texts.indices.map { 10 + $0 * Self.entryLength }
    }

    private static func little(_ value: Int, _ length: Int) -> [UInt8] {
        (0..<length).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}
