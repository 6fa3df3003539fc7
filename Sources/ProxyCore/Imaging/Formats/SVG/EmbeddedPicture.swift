// SPDX-License-Identifier: Apache-2.0

/// A picture in a drawing, given as a `data:` URL (RFC 2397).
///
/// librsvg decodes it, so its size is read here, and anything but PNG and JPEG, above all another drawing, is
/// refused.
struct EmbeddedPicture {
    /// Width × height.
    let pixels: Int

    private static let scheme = Array("data:".utf8)
    private static let encoding = Array(";base64".utf8)

    /// Whether a reference contains its data.
    static func isHeld(by reference: [UInt8]) -> Bool {
        reference.prefix(5).map(lowered).elementsEqual(scheme)
    }

    /// Reads a reference; nil unless it contains an allowed picture.
    init?(_ reference: [UInt8]) {
        guard let comma = reference.firstIndex(of: UInt8(ascii: ",")) else { return nil }
        let type = reference[..<comma].filter { $0 != 0x20 }.map(Self.lowered)
        let plain = Self.percentDecoded(reference[(comma + 1)...])
        let file = type.suffix(Self.encoding.count).elementsEqual(Self.encoding) ? Self.decoded(plain) : plain
        let format = ImageFormat(sniffing: file)
        guard let pixels = unsafe file.withUnsafeBytes({ unsafe format?.coder.embeddedPixels(of: $0) }) else {
            return nil
        }
        self.pixels = pixels
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    private static func percentDecoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
        guard text.contains(UInt8(ascii: "%")) else { return Array(text) }
        var result: [UInt8] = []
        var place = text.startIndex
        while place < text.endIndex {
            let digits = text[place...].dropFirst().prefix(2)
            let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            if text[place] == UInt8(ascii: "%"), digits.count == 2, let value {
                result.append(value)
                place += 3
            } else {
                result.append(text[place])
                place += 1
            }
        }
        return result
    }

    /// Decodes base64 (RFC 4648 §4) up to the first invalid character.
    private static func decoded(_ text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count / 4 * 3)
        var bits = 0
        var count = 0
        for byte in text where byte > 0x20 {
            guard let digit = digit(byte) else { break }
            bits = (bits << 6 | digit) & 0xFFFF
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            result.append(UInt8(truncatingIfNeeded: bits >> count))
        }
        return result
    }

    private static func digit(_ byte: UInt8) -> Int? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(byte) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(byte) - 97 + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte) - 48 + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
