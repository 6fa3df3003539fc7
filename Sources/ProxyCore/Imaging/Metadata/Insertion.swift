// SPDX-License-Identifier: Apache-2.0

/// Metadata that libvips does not write, as bytes to insert into its output.
struct Insertion {
    /// The inserted bytes.
    let bytes: [UInt8]
    /// Their position.
    let offset: Int

    /// EXIF as a chunk after the header of a PNG (PNG third edition §11.3.4.6).
    static func chunk(_ exif: ExifBlock) -> Insertion {
        let body = Array("eXIf".utf8) + exif.bytes
        return Insertion(
            bytes: big(UInt32(exif.bytes.count)) + body + big(PNGChecksum.of(body)), offset: pngHeaderLength)
    }

    /// EXIF as a segment of a JPEG (EXIF 2.32 §4.7.2), after a leading JFIF segment; nil if it is too long.
    static func segment(_ exif: ExifBlock, afterHeader header: [UInt8]) -> Insertion? {
        let body = Array("Exif\0\0".utf8) + exif.bytes
        guard header.count >= 6, body.count <= 0xFFFF - 2 else { return nil }
        let hasJFIF = header[2] == 0xFF && header[3] == 0xE0
        let length = body.count + 2
        return Insertion(
            bytes: [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 0xFF)] + body,
            offset: hasJFIF ? 4 + (Int(header[4]) << 8 | Int(header[5])) : 2)
    }

    /// A comment after the header and palette of a GIF (GIF89a §24).
    static func comment(_ text: String, afterHeader header: [UInt8]) -> Insertion? {
        guard header.count > 10 else { return nil }
        // Logical screen descriptor, §18: the flags contain whether a palette follows, and its size.
        let palette = header[10] & 0x80 == 0 ? 0 : 3 << (Int(header[10] & 7) + 1)
        var blocks: [UInt8] = [0x21, 0xFE]
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let part = rest.prefix(255)
            blocks += [UInt8(part.count)] + part
            rest = rest.dropFirst(part.count)
        }
        return Insertion(bytes: blocks + [0], offset: headerLength + palette)
    }

    /// EXIF in a container before a bare codestream of JPEG XL, which becomes the container's last box
    /// (ISO/IEC 18181-2); nil if the codestream is already in a container.
    static func box(_ exif: ExifBlock, beforeHeader header: [UInt8]) -> Insertion? {
        guard header.starts(with: [0xFF, 0x0A]) else { return nil }
        let signature = big(12) + Array("JXL ".utf8) + [0x0D, 0x0A, 0x87, 0x0A]
        let type = big(20) + Array("ftypjxl ".utf8) + big(0) + Array("jxl ".utf8)
        let metadata = big(UInt32(exif.bytes.count + 12)) + Array("Exif".utf8) + big(0) + exif.bytes
        // A length of 0 extends to the end of the file.
        return Insertion(bytes: signature + type + metadata + big(0) + Array("jxlc".utf8), offset: 0)
    }

    /// The length of the signature and IHDR.
    private static let pngHeaderLength = 33
    /// The length of GIF's signature and logical screen descriptor: enough to find the position in any
    /// format.
    static let headerLength = 13

    private static func big(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
