// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The format of a signing key in a file.
enum KeyText {
    /// The key in a file: its bytes, or what follows `hex:` or `base64:`; nil if that is invalid.
    static func decode(_ bytes: [UInt8]) -> [UInt8]? {
        if bytes.starts(with: "hex:".utf8) { return [UInt8](hexadecimal: bytes.dropFirst(4)) }
        if bytes.starts(with: "base64:".utf8) { return base64(bytes.dropFirst(7)) }
        return bytes
    }

    /// Why a key can't be decoded.
    static func fault(in bytes: [UInt8]) -> String {
        guard bytes.last != UInt8(ascii: "\r") else {
            return "the line ends in CR LF, expected LF or nothing"
        }
        guard bytes.starts(with: "hex:".utf8) else { return "the text behind base64: is not base64" }
        return bytes.count.isMultiple(of: 2)
            ? "a character behind hex: is no hexadecimal digit"
            : "there is an odd number of hexadecimal digits behind hex:"
    }

    /// Both alphabets, with or without padding.
    private static func base64(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        text.contains { $0 <= 0x20 } ? nil : Base64.decode(text)
    }
}
