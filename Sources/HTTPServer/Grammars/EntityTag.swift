// SPDX-License-Identifier: Apache-2.0

/// An entity tag: an opaque validator of a representation (RFC 9110 §8.8.3).
public struct EntityTag: Sendable, Hashable {
    /// Whether the tag is weak: it may stand for more than one sequence of bytes.
    public let isWeak: Bool
    /// The octets between the quotes.
    let opaque: [UInt8]

    /// Creates a tag from the octets between the quotes; nil if they contain a quote, white space or a
    /// control character.
    public init?(opaque: some Sequence<UInt8>, isWeak: Bool = false) {
        self.opaque = Array(opaque)
        self.isWeak = isWeak
        guard self.opaque.allSatisfy(Self.isTagCharacter) else { return nil }
    }

    /// The tag as a field's value.
    public var fieldValue: FieldValue {
        var text: [UInt8] = []
        append(to: &text)
        return FieldValue(checked: text)
    }

    /// Appends the tag with its quotes to `buffer`.
    public func append(to buffer: inout [UInt8]) {
        buffer += (isWeak ? "W/\"" : "\"").utf8
        buffer += opaque
        buffer.append(UInt8(ascii: "\""))
    }

    /// Hot path: finds a tag's opaque part, and where the tag ends; nil if there is no tag at `start`.
    static func read(_ octets: Span<UInt8>, from start: Int) -> (opaque: Range<Int>, end: Int)? {
        var index = start
        // The W is case-sensitive.
        if index + 1 < octets.count, octets[index] == UInt8(ascii: "W"),
            octets[index + 1] == UInt8(ascii: "/")
        {
            index += 2
        }
        guard index < octets.count, octets[index] == UInt8(ascii: "\"") else { return nil }
        let first = index + 1
        index = first
        while index < octets.count, isTagCharacter(octets[index]) { index += 1 }
        guard index < octets.count, octets[index] == UInt8(ascii: "\"") else { return nil }
        return (first..<index, index + 1)
    }

    /// `etagc`: visible except the quote, or beyond ASCII.
    private static func isTagCharacter(_ octet: UInt8) -> Bool {
        octet > 0x20 && octet != UInt8(ascii: "\"") && octet != 0x7F
    }
}
