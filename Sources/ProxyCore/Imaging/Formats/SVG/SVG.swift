// SPDX-License-Identifier: Apache-2.0

import CVips
import Primitives

/// SVG, by librsvg 2.54.7 (Debian 12); rasterised only.
///
/// To examine again with another version:
/// - libvips 8.14 considers its coder untrusted.
/// - It converts units at 72 per inch instead of 96 (`DrawingSize`), and takes a side that it can't hold for one pixel
///   (`checkSides`).
/// - Of a root without `viewBox` it scales the canvas and not what is drawn, unless both sides are absolute (`DrawingSize`).
/// - libxml2 expands entities, and librsvg draws what references repeat, without a sum of either (`SVGCheck`).
enum SVG: ReadOnlyFormat {
    static let format = ImageFormat.svg
    static let mediaType = "image/svg+xml"
    static let storedCode: UInt8 = 9
    static let untrustedCoders = ["VipsForeignLoadSvg"]

    static let isDrawing = true
    static let maxSide = 32_767

    /// Whether the text begins with an `svg` element, after an optional byte order mark, declaration,
    /// comments and doctype.
    static func recognizes(_ prefix: ArraySlice<UInt8>) -> Bool { elementStart(prefix) != nil }

    /// The position of the `svg` element at the beginning of a text; nil for any other text.
    static func elementStart(_ prefix: ArraySlice<UInt8>) -> Int? {
        var rest = prefix.starts(with: [0xEF, 0xBB, 0xBF]) ? prefix.dropFirst(3) : prefix
        while true {
            rest = rest.drop { spaces.contains($0) }
            if rest.starts(with: "<svg".utf8) {
                guard let next = rest.dropFirst(4).first else { return nil }
                return spaces.contains(next) || ">/".utf8.contains(next) ? rest.startIndex : nil
            }
            guard let end = prologueEnd(rest) else { return nil }
            rest = rest[end...]
        }
    }

    private static let spaces = Set(" \t\n\r".utf8)

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

    static func repaired(_ file: UnsafeMutableRawBufferPointer) -> [UInt8]? {
        unsafe DrawingSize.inPixels(UnsafeRawBufferPointer(file))
    }

    static func header(of source: borrowing VipsSource) throws(ImagingError) -> ImageHeader {
        let embedded = try unsafe source.withBytes { (text) throws(ImagingError) in
            try unsafe SVGCheck.check(text)
        }
        var header = try checkedHeader(of: source)
        header.embeddedPixels = embedded
        header.hasFixedScale = unsafe source.withBytes { unsafe !DrawingSize.isScalable($0) }
        try checkSides(header.size, source)
        return header
    }

    /// Throws `tooManyPixels` for a drawing with a side that libvips can't hold, and takes for one pixel.
    private static func checkSides(
        _ size: PixelSize, _ source: borrowing VipsSource
    ) throws(ImagingError) {
        guard size.width == 1 || size.height == 1 else { return }
        // One pixel of the drawing's own would be more of them here.
        let larger = try loaded(source, .primary, .scale(4)).size
        let isHeld =
            (size.width > 1 || larger.width > 1) && (size.height > 1 || larger.height > 1)
        guard isHeld else { throw .tooManyPixels("the drawing has a side longer than can be drawn") }
    }

    static func load(_ source: RawSource, _ frames: FrameSelection, _ shrink: LoadShrink) -> RawImage? {
        unsafe shim_load_svg(source, shrink.scale)
    }

    /// The drawing is rendered at its size, if librsvg can do that.
    static func shrink(_ header: ImageHeader, needed: PixelSize) -> LoadShrink {
        guard !header.hasFixedScale else { return .none }
        let surplus = header.surplus(over: needed)
        return surplus != 1 ? .scale(1 / surplus) : .none
    }

    static func isStreamed(_ header: ImageHeader) -> Bool { !header.hasFixedScale }

    static func decodingWork(_ header: ImageHeader) -> Double { 1 }

    static func decodingMemory(_ job: DecodingJob) -> Int {
        (job.header.hasFixedScale ? job.pixels : job.resultPixels) * DecodingJob.bytesPerPixel
            + job.header.embeddedPixels * 8
    }
}
