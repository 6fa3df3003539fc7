// SPDX-License-Identifier: Apache-2.0

/// Base64 (RFC 4648): encodes it, and decodes it whole or while it arrives.
package struct Base64 {
    private static let digits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let urlDigits = Array(digits.dropLast(2) + "-_".utf8)

    /// The value of each byte of both alphabets (§4, §5); 255 for any other byte.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, byte) in digits.enumerated() { values[Int(byte)] = UInt8(value) }
        for (value, byte) in urlDigits.enumerated() { values[Int(byte)] = UInt8(value) }
        return values
    }()

    private var bits: UInt32 = 0
    private var count = 0
    private var padding = 0

    /// Creates a decoder.
    package init() {}

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

extension Base64 {
    /// Decodes a whole text of either alphabet, with or without padding; white space is ignored.
    package static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var decoder = Base64()
        let decoded = unsafe Array(text).withUnsafeBytes { unsafe decoder.decode($0) }
        guard let decoded, let rest = decoder.finish() else { return nil }
        return decoded + rest
    }

    /// Decodes the only URL-safe spelling of some bytes (§5); nil for a text with padding, other characters,
    /// or remaining bits that are not zero.
    package static func decodeURL(_ text: some Sequence<UInt8>) -> [UInt8]? {
        guard let bytes = decode(text), encodeURL(bytes).utf8.elementsEqual(text) else { return nil }
        return bytes
    }

    /// Encodes bytes with padding (§4).
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        append(bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends bytes in base64 with padding (§4); allocates once.
    package static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        let start = text.count
        text.reserveCapacity(start + encodedCount(bytes.count))
        encode(bytes, digits, to: &text)
        while (text.count - start) % 4 != 0 { text.append(UInt8(ascii: "=")) }
    }

    /// How many characters so many bytes are, with padding.
    package static func encodedCount(_ count: Int) -> Int { (count + 2) / 3 * 4 }

    /// Encodes bytes for URLs, without padding (§5, §3.2).
    package static func encodeURL(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        encode(Array(bytes), urlDigits, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    private static func encode(_ bytes: [UInt8], _ digits: [UInt8], to text: inout [UInt8]) {
        let whole = bytes.count / 3 * 3
        for start in stride(from: 0, to: whole, by: 3) {
            let bits = UInt32(bytes[start]) << 16 | UInt32(bytes[start + 1]) << 8 | UInt32(bytes[start + 2])
            text.append(digits[Int(bits >> 18)])
            text.append(digits[Int(bits >> 12 & 63)])
            text.append(digits[Int(bits >> 6 & 63)])
            text.append(digits[Int(bits & 63)])
        }
        guard whole < bytes.count else { return }
        let rest = bytes[whole...]
        let bits = rest.reduce(0) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - rest.count))
        for index in 0...rest.count { text.append(digits[Int(bits >> UInt32(18 - 6 * index) & 63)]) }
    }
}
