// SPDX-License-Identifier: Apache-2.0

/// What is known of one failure beyond its kind: half a sentence with a number, a setting or both, safe to show to clients.
package struct Explanation: Sendable, Codable, NotCompared {
    /// The text: printable ASCII, at most `maxBytes`; empty when nothing is known.
    package let text: String

    /// The maximum number of bytes of a text.
    package static let maxBytes = 256

    /// Keeps the text's beginning, without the line break of its end; with a space in place of other line breaks, and
    /// `?` in place of each byte that is not printable ASCII.
    package init(_ text: String) {
        var bytes = text.utf8.prefix(Self.maxBytes).map { byte in
            switch byte {
            case 0x20...0x7E: byte
            case 0x0A, 0x0D: UInt8(ascii: " ")
            default: UInt8(ascii: "?")
            }
        }
        while bytes.last == UInt8(ascii: " ") { bytes.removeLast() }
        self.text = String(decoding: bytes, as: UTF8.self)
    }

    /// Decodes a text and bounds it likewise: a worker that a picture has taken over chooses what it sends.
    package init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the text.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension Explanation: ExpressibleByStringInterpolation {
    /// Wraps a text.
    package init(stringLiteral text: String) {
        self.init(text)
    }
}
