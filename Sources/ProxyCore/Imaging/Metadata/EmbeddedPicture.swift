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
        guard let pixels = unsafe file.withUnsafeBytes({ unsafe Self.pixels(of: $0) }) else { return nil }
        self.pixels = pixels
    }

    /// The number of pixels of a file; nil for one that is damaged or of another format.
    private static func pixels(of file: UnsafeRawBufferPointer) -> Int? {
        switch unsafe ImageFormat(sniffing: Array(file.prefix(ImageFormat.sniffLength))) {
        case .jpeg:
            let scans = unsafe JPEGScans(of: file)
            guard scans.count <= JPEGScans.limit, scans.leastBytes <= file.count else { return nil }
            return scans.pixels
        case .png:
            // The reason is dropped: which of its texts was too long.
            guard (try? unsafe PNGChunks.checkWeight(of: file)) != nil else { return nil }
            var chunks = unsafe PNGChunks(file)
            guard let header = chunks.next(), header.name == .header, header.body.count >= 8 else {
                return nil
            }
            return chunks.number(at: header.body.lowerBound) * chunks.number(at: header.body.lowerBound + 4)
        default: return nil
        }
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
