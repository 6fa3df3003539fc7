// SPDX-License-Identifier: Apache-2.0

extension ImageFormat {
    /// The number of leading bytes that determine a source's format; often fewer suffice, and more are not
    /// read.
    package static let sniffLength = 1_024

    /// Recognizes a format by its magic bytes, never by a name or a media type; nil for unknown bytes.
    ///
    /// - Parameter prefix: the source's first bytes; at most `sniffLength` of them are read.
    package init?(sniffing prefix: [UInt8]) {
        let bytes = prefix.prefix(Self.sniffLength)
        if let format = Self.bySignature(bytes) ?? Self.byBrand(bytes) {
            self = format
        } else if Self.opensSVG(bytes) {
            self = .svg
        } else {
            return nil
        }
    }

    private static func bySignature(_ bytes: ArraySlice<UInt8>) -> ImageFormat? {
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return .jpeg }
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return .png }
        if bytes.starts(with: "GIF87a".utf8) || bytes.starts(with: "GIF89a".utf8) { return .gif }
        if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) { return .webp }
        if tiffSignatures.contains(where: { bytes.starts(with: $0) }) { return .tiff }
        if bytes.starts(with: [0xFF, 0x0A]) { return .jxl }
        if bytes.starts(with: [0, 0, 0, 0x0C] + Array("JXL ".utf8) + [0x0D, 0x0A, 0x87, 0x0A]) {
            return .jxl
        }
        return nil
    }

    /// TIFF 6.0 §2, and BigTIFF with offsets of eight bytes, in either byte order.
    private static let tiffSignatures: [[UInt8]] = [
        [0x49, 0x49, 0x2A, 0x00], [0x4D, 0x4D, 0x00, 0x2A],
        [0x49, 0x49, 0x2B, 0x00, 0x08, 0x00, 0x00, 0x00], [0x4D, 0x4D, 0x00, 0x2B, 0x00, 0x08, 0x00, 0x00],
    ]

    /// Reads the brands of an ISO base media file (ISO/IEC 14496-12 §4.3): first the major brand, then the
    /// others.
    private static func byBrand(_ bytes: ArraySlice<UInt8>) -> ImageFormat? {
        let bytes = Array(bytes)
        guard bytes.count >= 12, bytes[4..<8].elementsEqual("ftyp".utf8) else { return nil }
        let length = bytes[0..<4].reduce(0) { $0 << 8 | Int($1) }
        let end = min(length, bytes.count)
        guard end >= 12 else { return nil }
        let compatible = stride(from: 16, through: end - 4, by: 4)
        for start in [8] + Array(compatible) {
            if let format = brands[String(decoding: bytes[start..<start + 4], as: UTF8.self)] {
                return format
            }
        }
        return nil
    }

    private static let brands: [String: ImageFormat] = [
        "avif": .avif, "avis": .avif,
        "heic": .heic, "heix": .heic, "heim": .heic, "heis": .heic, "hevc": .heic, "hevx": .heic,
    ]

    /// Whether the text begins with an `svg` element, after an optional byte order mark, declaration,
    /// comments and doctype.
    private static func opensSVG(_ bytes: ArraySlice<UInt8>) -> Bool { elementStart(bytes) != nil }

    /// The position of the `svg` element at the beginning of a text; nil for any other text.
    ///
    /// - Parameter prefix: the text's first bytes.
    static func drawingStart(_ prefix: some Sequence<UInt8>) -> Int? { elementStart(ArraySlice(prefix)) }

    private static func elementStart(_ bytes: ArraySlice<UInt8>) -> Int? {
        var rest = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes
        while true {
            rest = rest.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
            if rest.starts(with: "<svg".utf8) {
                guard let next = rest.dropFirst(4).first else { return nil }
                let ends = [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ">"), UInt8(ascii: "/")]
                return ends.contains(next) ? rest.startIndex : nil
            }
            guard let end = prologueEnd(rest) else { return nil }
            rest = rest[end...]
        }
    }

    /// The end of the declaration, comment or doctype at the beginning of `text`.
    private static func prologueEnd(_ text: ArraySlice<UInt8>) -> Int? {
        let closings: [(opening: String, closing: String)] = [
            ("<?xml", "?>"), ("<!--", "-->"), ("<!DOCTYPE svg", ">"),
        ]
        guard let part = closings.first(where: { text.starts(with: $0.opening.utf8) }) else { return nil }
        var closing = Array(part.closing.utf8)
        // A doctype's internal declarations are between brackets and contain `>` themselves.
        if part.closing == ">", text.prefix(while: { $0 != UInt8(ascii: ">") }).contains(UInt8(ascii: "[")) {
            closing = Array("]>".utf8)
        }
        return text.indices.first { text[$0...].starts(with: closing) }.map { $0 + closing.count }
    }
}
