// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Percent-encoding as other proxies read it: what is no escape is left as it is.
enum PercentText {
    /// Decodes `%HH` once.
    ///
    /// - Parameter form: whether `+` is a space, as in a form's query.
    static func decoded(_ text: some StringProtocol, form: Bool = false) -> [UInt8] {
        guard form else { return percentDecoded(text.utf8).bytes }
        return percentDecoded(text.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }).bytes
    }

    /// Decodes `%HH` once; nil if that is not UTF-8.
    static func decodedText(_ text: some StringProtocol, form: Bool = false) -> String? {
        String(validating: decoded(text, form: form), as: UTF8.self)
    }

    /// A decoded URL as it is written: bytes that no URL has are encoded, and so is a `%` that begins no escape.
    static func url(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for (place, byte) in bytes.enumerated() {
            if isURLByte(byte) || isEscape(at: place, in: bytes) {
                text.append(byte)
            } else {
                text += byte.percentEncoded
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Encodes spaces and control characters, which a URL that has been decoded may contain.
    static func encodingSpaces(_ text: String) -> String {
        text.utf8.percentEncoded { $0 > 0x20 && $0 != 0x7F }
    }

    /// Printable ASCII that RFC 3986 gives no place in a URL, and `%`.
    private static let encoded = Array("\"<>\\^`{|}%".utf8)

    private static func isURLByte(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !encoded.contains(byte)
    }

    private static func isEscape(at place: Int, in bytes: [UInt8]) -> Bool {
        bytes[place] == UInt8(ascii: "%") && place + 2 < bytes.count && hexDigit(bytes[place + 1]) != nil
            && hexDigit(bytes[place + 2]) != nil
    }
}
