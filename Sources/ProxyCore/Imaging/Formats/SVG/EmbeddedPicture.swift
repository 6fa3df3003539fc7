// SPDX-License-Identifier: Apache-2.0

import Primitives

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
        let plain = percentDecoded(reference[(comma + 1)...]).bytes
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

    /// Decodes base64 (RFC 4648 §4); nothing if it is malformed.
    private static func decoded(_ text: [UInt8]) -> [UInt8] {
        // librsvg does not know the alphabet for URLs.
        text.contains { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") } ? [] : Base64.decode(text) ?? []
    }
}
