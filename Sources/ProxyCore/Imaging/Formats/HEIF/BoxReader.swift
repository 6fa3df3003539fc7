// SPDX-License-Identifier: Apache-2.0

/// Reads the boxes of an ISO base media file (ISO/IEC 14496-12 §4.2) and the numbers in them, never beyond its bytes.
@safe struct BoxReader {
    private let bytes: UnsafeRawBufferPointer
    /// The offset of the bytes in the file.
    private let origin: Int
    /// The start of the next number or box.
    private(set) var place = 0

    /// A box's type and body.
    struct Box {
        let type: String
        let body: BoxReader
    }

    /// The maximum number of sibling boxes that are read: pictures have a few for each item.
    private static let boxLimit = 16_384

    /// Reads `bytes`, which must exist as long as the reader and begin at `origin` in their file.
    init(_ bytes: UnsafeRawBufferPointer, at origin: Int = 0) {
        unsafe self.bytes = unsafe bytes
        self.origin = origin
    }

    /// The file offset of the next number or box.
    var placeInFile: Int { origin + place }

    /// The number of remaining bytes.
    var rest: Int { unsafe bytes.count - place }

    /// Reads a big-endian number of up to eight bytes; nil beyond the end, and if an `Int` can't hold it.
    mutating func number(_ length: Int) -> Int? {
        guard (0...8).contains(length), length <= rest else { return nil }
        defer { place += length }
        return unsafe bytes.number(at: place, length: length)
    }

    /// Reads a code of four letters; nil beyond the end.
    mutating func code() -> String? {
        guard rest >= 4 else { return nil }
        defer { place += 4 }
        return unsafe String(decoding: bytes[place..<place + 4], as: UTF8.self)
    }

    /// Reads a zero-terminated text; nil without the terminator.
    mutating func text() -> String? {
        let start = place
        guard let end = unsafe bytes[start...].firstIndex(of: 0) else { return nil }
        place = end + 1
        return unsafe String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// Skips bytes; nil beyond the end.
    mutating func skip(_ length: Int) -> Void? {
        guard length >= 0, length <= rest else { return nil }
        place += length
        return ()
    }

    /// The remaining bytes.
    var remaining: [UInt8] { unsafe Array(bytes[place...]) }

    /// A reader of `length` bytes from `start` on; nil unless all of them exist.
    func part(from start: Int, length: Int) -> BoxReader? {
        guard start >= 0, length >= 0, unsafe start <= bytes.count, unsafe length <= bytes.count - start
        else { return nil }
        let part = unsafe UnsafeRawBufferPointer(rebasing: bytes[start..<start + length])
        return unsafe BoxReader(part, at: origin + start)
    }

    /// Returns the boxes from here on, up to the first incomplete one or the limit.
    func boxes() -> [Box] {
        var reader = self
        var found: [Box] = []
        while found.count < Self.boxLimit, let box = reader.box() { found.append(box) }
        return found
    }

    private mutating func box() -> Box? {
        let start = place
        guard let short = number(4), let type = code() else { return nil }
        // A length of 1 is followed by one of eight bytes; a length of 0 extends to the end.
        guard let length = short == 1 ? number(8) : short == 0 ? place - start + rest : short,
            length >= place - start, let body = part(from: place, length: length - (place - start))
        else { return nil }
        place = start + length
        return Box(type: type, body: body)
    }
}

extension [BoxReader.Box] {
    func first(_ type: String) -> BoxReader? { first { $0.type == type }?.body }
}
