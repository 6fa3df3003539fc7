// SPDX-License-Identifier: Apache-2.0

/// Encodes base64, and decodes it while it arrives (RFC 4648 §4).
package struct Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The value of each byte of both alphabets (RFC 4648 §4 and §5); 255 for any other byte.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, byte) in alphabet.enumerated() { values[Int(byte)] = UInt8(value) }
        values[Int(UInt8(ascii: "-"))] = 62
        values[Int(UInt8(ascii: "_"))] = 63
        return values
    }()

    private var bits: UInt32 = 0
    private var count = 0
    private var padding = 0

    /// Creates a decoder.
    package init() {}

    /// Encodes bytes, with padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for index in 0..<4 {
                let digit = alphabet[Int(bits >> UInt32(18 - 6 * index) & 63)]
                text.append(index <= group.count ? digit : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes a further piece; nil if it is malformed. Ignores white space, and accepts both alphabets.
    package mutating func decode(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count / 4 * 3 + 3)
        for index in bytes.indices {
            let byte = unsafe bytes[index]
            if byte == 0x20 || (0x09...0x0D).contains(byte) { continue }
            if byte == UInt8(ascii: "=") {
                padding += 1
                guard padding <= 2, count >= 2 else { return nil }
                continue
            }
            let value = Self.values[Int(byte)]
            guard value != 255, padding == 0 else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 1
            guard count == 4 else { continue }
            decoded += [UInt8(bits >> 16 & 255), UInt8(bits >> 8 & 255), UInt8(bits & 255)]
            (bits, count) = (0, 0)
        }
        return decoded
    }

    /// Returns the bytes of the last, incomplete group; nil if the text ended within a group.
    package mutating func finish() -> [UInt8]? {
        guard padding == 0 || count + padding == 4 else { return nil }
        switch count {
        case 0: return []
        case 2: return [UInt8(bits >> 4 & 255)]
        case 3: return [UInt8(bits >> 10 & 255), UInt8(bits >> 2 & 255)]
        default: return nil
        }
    }
}
