// SPDX-License-Identifier: Apache-2.0

/// The sides of a drawing's first element: in pixels at 96 per inch, as in browsers, where libvips 8.14 uses 72.
enum DrawingSize {
    /// The number of pixels of each unit (CSS Values and Units §6.2).
    private static let units: [String: Double] = [
        "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4, "pt": 96.0 / 72, "pc": 16,
    ]
    /// The maximum number of bytes of the first element's tag.
    private static let tagLimit = 65_536

    /// Returns the text with its first element's width and height in pixels; nil if they use no other unit.
    static func inPixels(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        guard let (start, first) = unsafe first(of: text) else { return nil }
        var tag = first
        var changes: [(range: Range<Int>, value: [UInt8])] = []
        while let attribute = tag.next() {
            guard ["width", "height"].contains(attribute.name), let value = pixels(tag.text(attribute.value))
            else { continue }
            changes.append((attribute.value, Array("\(value)px".utf8)))
        }
        guard !changes.isEmpty else { return nil }
        var changed = unsafe Array(text)
        for change in changes.reversed() {
            let range = start + change.range.lowerBound..<start + change.range.upperBound
            changed.replaceSubrange(range, with: change.value)
        }
        return changed
    }

    /// Whether a text's first element has a `viewBox`, or both sides in pixels.
    static func isScalable(_ text: UnsafeRawBufferPointer) -> Bool {
        guard var tag = unsafe first(of: text)?.tag else { return false }
        var sides = 0
        while let attribute = tag.next() {
            switch attribute.name {
            case "viewBox": return true
            case "width", "height":
                let length = tag.text(attribute.value).filter { !$0.isWhitespace }
                let number = length.hasSuffix("px") ? length.dropLast(2) : length[...]
                if Double(number)?.isFinite == true { sides += 1 }
            default: break
            }
        }
        return sides == 2
    }

    /// The first element, and where it begins.
    private static func first(of text: UnsafeRawBufferPointer) -> (start: Int, tag: Tag)? {
        unsafe SVG.elementStart(Array(text.prefix(ImageFormat.sniffLength))[...]).map { start in
            (start, Tag(unsafe Array(text[start...].prefix(tagLimit))))
        }
    }

    /// The number of pixels of a length in one of the units; nil for any other.
    private static func pixels(_ text: String) -> Double? {
        let trimmed = text.drop { $0.isWhitespace }
        let number = trimmed.prefix { "0123456789.+-eE".contains($0) }
        let unit = trimmed.dropFirst(number.count).prefix { !$0.isWhitespace }
        guard trimmed.dropFirst(number.count + unit.count).allSatisfy(\.isWhitespace),
            let value = Double(number), value.isFinite, let factor = units[unit.lowercased()]
        else { return nil }
        return value * factor
    }

    /// The attributes of the element at the beginning of a text.
    private struct Tag {
        private let bytes: [UInt8]
        private var place = 4

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

        /// Returns the next attribute's name and the range of its value between quotes; nil after the last,
        /// and for a malformed one.
        mutating func next() -> (name: String, value: Range<Int>)? {
            skipSpace()
            let start = place
            place = bytes[start...].firstIndex { Self.ends.contains($0) } ?? bytes.count
            let name = text(start..<place)
            skipSpace()
            guard !name.isEmpty, take() == UInt8(ascii: "=") else { return nil }
            skipSpace()
            guard let quote = take(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"),
                let end = bytes[place...].firstIndex(of: quote)
            else { return nil }
            defer { place = end + 1 }
            return (name, place..<end)
        }

        private static let spaces = Set(" \t\r\n".utf8)
        private static let ends = spaces.union("=/>\"'<".utf8)

        private mutating func skipSpace() {
            while place < bytes.count, Self.spaces.contains(bytes[place]) { place += 1 }
        }

        private mutating func take() -> UInt8? {
            guard place < bytes.count else { return nil }
            defer { place += 1 }
            return bytes[place]
        }
    }
}
