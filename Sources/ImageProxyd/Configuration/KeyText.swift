// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The format of a signing key in a file.
enum KeyText {
    /// The key in a file: its bytes, or what follows `hex:` or `base64:`; nil if that is invalid.
    static func decode(_ bytes: [UInt8]) -> [UInt8]? {
        if bytes.starts(with: "hex:".utf8) { return hexadecimal(bytes.dropFirst(4)) }
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

    private static func hexadecimal(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        var rest = digits
        while let high = rest.popFirst(), let low = rest.popFirst() {
            guard let byte = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16), high != 0x2B
            else {
                return nil
            }
            bytes.append(byte)
        }
        return bytes
    }

    /// Both alphabets, with or without padding.
    static func base64(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var text = text
        while text.last == UInt8(ascii: "=") { text.removeLast() }
        return Base64URL.decode(
            text.map { byte in
                switch byte {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                default: byte
                }
            })
    }
}
