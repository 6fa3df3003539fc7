// SPDX-License-Identifier: Apache-2.0

import CVips

/// PNG and APNG, by libpng 1.6.39 (Debian 12).
///
/// To examine again with another version:
/// - libvips 8.14 reads no animation: the daemon composes the frames (`PNGAnimation`).
/// - libpng unpacks all texts and profiles before any pixel (`PNGChunks.checkWeight`).
/// - libvips 8.14 does not read the chunk of EXIF (`open`), and writes it twice (`addition`).
enum PNG: FormatCoder {
    static let format = ImageFormat.png
    static let mediaType = "image/png"
    static let storedCode: UInt8 = 2
    static let signatures = [PNGChunks.signature]

    static let readsAnimations = true
    static let isShownByBrowsers = true
    static let maxSide = 1_000_000
    static let canBeLossless = true
    static let canBeProgressive = true
    /// PNG 1.2 §4.1.1 knows no other depths.
    static let sizeReduction = SizeReduction.palette([8, 4, 2, 1])

    static func check(_ file: UnsafeRawBufferPointer) throws(ImagingError) {
        try unsafe PNGChunks.checkWeight(of: file)
    }

    static func header(of source: borrowing VipsSource) throws(ImagingError) -> ImageHeader {
        var header = try checkedHeader(of: source)
        if let animation = animation(in: source) {
            header.frames = animation.frames.count
            header.isComposed = header.frames == 1
            if header.isComposed { header.mustBeHeldWhole = true }
        }
        if let orientation = exif(of: source).flatMap({ ExifBlock($0)?.orientation }) {
            header.orientation = orientation
        }
        return header
    }

    static func load(_ source: RawSource, _ frames: FrameSelection, _ shrink: LoadShrink) -> RawImage? {
        unsafe shim_load_png(source)
    }

    static func open(
        _ source: borrowing VipsSource, _ frames: FrameSelection, _ shrink: LoadShrink
    ) throws(ImagingError) -> VipsImage {
        let still = try loaded(source, .primary).withComments { latinTexts(in: source) }
        guard let animation = animation(in: source), frames != .primary || !animation.beginsWithPicture
        else { return try still.adding(exif: exif(of: source)) }
        let drawn = try FrameCanvas.image(of: animation, frames: animation.range(of: frames), from: source)
        drawn.takeDescriptions(of: still)
        if let exif = exif(of: source) { drawn.set("exif-data", to: exif) }
        return drawn
    }

    static func timing(of source: borrowing VipsSource) throws(ImagingError) -> AnimationTiming {
        if let animation = animation(in: source) { return animation.timing }
        return try loaded(source, .all).timing
    }

    /// The animation; nil for a still. O(number of chunks).
    private static func animation(in source: borrowing VipsSource) -> PNGAnimation? {
        unsafe source.withBytes { unsafe PNGAnimation($0) }
    }

    /// The texts of `tEXt` by their keywords: Latin-1 (§11.3.3.2), which libvips does not expect. O(bytes of texts).
    private static func latinTexts(in source: borrowing VipsSource) -> [String: String] {
        unsafe source.withBytes { file in
            var chunks = unsafe PNGChunks(file)
            var texts: [String: String] = [:]
            while let chunk = chunks.next() {
                guard chunk.name == .text else { continue }
                let parts = unsafe Array(file[chunk.body]).split(separator: 0, maxSplits: 1)
                guard parts.count == 2 else { continue }
                texts[String(decoding: parts[0], as: UTF8.self)] = Ownership.text(parts[1])
            }
            return texts
        }
    }

    /// The EXIF block, at any position; nil if there is none. O(number of chunks).
    private static func exif(of source: borrowing VipsSource) -> [UInt8]? {
        unsafe source.withBytes { file in
            var chunks = unsafe PNGChunks(file)
            while let chunk = chunks.next() {
                if chunk.name == .exif { return unsafe Array(file[chunk.body]) }
            }
            return nil
        }
    }

    static func embeddedPixels(of file: UnsafeRawBufferPointer) -> Int? {
        // Ignored: why it is refused, such as which of its texts is too long.
        guard (try? unsafe PNGChunks.checkWeight(of: file)) != nil else { return nil }
        var chunks = unsafe PNGChunks(file)
        guard let header = chunks.next(), header.name == .header, header.body.count >= 8 else { return nil }
        // The largest side that a file may state (PNG third edition §11.2.1); the product of two that it may not would overflow.
        let sides = [0, 4].map { min(chunks.number(at: header.body.lowerBound + $0), Int(Int32.max)) }
        return sides[0] * sides[1]
    }

    static let writtenMetadata: Set<MetadataKind> = [.exif, .xmp, .comments]

    /// The chunks of EXIF (PNG third edition §11.3.4.6) and of texts beyond ASCII (§11.3.3.4), which libvips writes as if they were
    /// Latin-1, behind the file's header.
    static func addition(
        to image: borrowing VipsImage, _ ownership: Ownership, keepsAll: Bool
    ) -> MetadataAddition? {
        var chunks: [UInt8] = []
        if let block = exif(of: image, ownership, keepsAll: keepsAll) { chunks += chunk("eXIf", block.bytes) }
        for (keyword, text) in image.takeInternationalComments() {
            // Not compressed, of no language.
            chunks += chunk("iTXt", Array(keyword.utf8) + [0, 0, 0, 0, 0] + text.utf8)
        }
        guard !chunks.isEmpty else { return nil }
        return MetadataAddition { [chunks] _ in Insertion(bytes: chunks, offset: headerLength) }
    }

    private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + content
        return bigEndian(content.count) + body + bigEndian(Int(PNGChecksum.of(body)))
    }

    /// The length of the signature and IHDR.
    private static let headerLength = 33

    static func save(
        _ image: borrowing VipsImage, _ settings: EncodeSettings, strips: CInt
    ) throws(ImagingError) -> EncodedImage {
        let picture = unsafe image.raw
        return try unsafe .written { bytes, count in
            unsafe shim_save_png(
                picture, &bytes, &count, compression, settings.isProgressive ?? false ? 1 : 0,
                CInt(settings.paletteBits ?? 0), strips)
        }
    }

    /// zlib's level, 0–9.
    private static let compression: CInt = 6

    static func isStreamed(_ header: ImageHeader) -> Bool { !header.mustBeHeldWhole }

    static func decodingWork(_ header: ImageHeader) -> Double {
        header.mustBeHeldWhole || header.frames > 1 ? 2.5 : 1.2
    }

    static func encodingWork(_ settings: EncodeSettings, frames: Int) -> Double { 15 }

    static func decodingMemory(_ job: DecodingJob) -> Int {
        guard job.header.frames == 1, !job.header.isComposed else { return job.composedFrames }
        return job.header.mustBeHeldWhole ? job.pixels * 5 : job.rows(DecodingJob.rowsInFlight)
    }

    static func encodingMemory(pixels: Int, frames: Int, hasAlpha: Bool) -> Int { pixels * 3 }
}
