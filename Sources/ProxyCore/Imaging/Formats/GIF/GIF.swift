// SPDX-License-Identifier: Apache-2.0

import CVips

/// GIF, read by libnsgif (part of libvips 8.14), written by cgif 0.3.0 (Debian 12).
///
/// To examine again with another version:
/// - libnsgif composes some animations differently from browsers: the daemon composes those (`GIFAnimation`).
/// - It shows a part of a file that breaks off (`GIFAnimation.check`).
/// - libvips 8.14 chooses a palette for every frame, which takes most of the time (`SharedPalette`).
/// - It writes no comment (`addition`).
enum GIF: FormatCoder {
    static let format = ImageFormat.gif
    static let mediaType = "image/gif"
    static let storedCode: UInt8 = 5
    static let signatures = ["GIF87a", "GIF89a"].map { Array($0.utf8) }

    static let readsAnimations = true
    static let writesAnimations = true
    static let isShownByBrowsers = true
    static let maxSide = 65_535
    static let sizeReduction = SizeReduction.palette([7, 6, 5, 4, 3, 2, 1])

    static func check(_ file: UnsafeRawBufferPointer) throws(ImagingError) {
        try unsafe GIFAnimation.check(file)
    }

    static func header(of source: borrowing VipsSource) throws(ImagingError) -> ImageHeader {
        let header = try checkedHeader(of: source)
        guard let composed = composed(source) else { return header }
        return ImageHeader(
            format: format, size: composed.canvas, frames: composed.frames.count, hasAlpha: true,
            orientation: header.orientation, mustBeHeldWhole: true)
    }

    static func load(_ source: RawSource, _ frames: FrameSelection, _ shrink: LoadShrink) -> RawImage? {
        unsafe shim_load_gif(source, frames.first, frames.count)
    }

    static func open(
        _ source: borrowing VipsSource, _ frames: FrameSelection, _ shrink: LoadShrink
    ) throws(ImagingError) -> VipsImage {
        guard let animation = composed(source) else { return try loaded(source, frames) }
        let drawn = try FrameCanvas.image(of: animation, frames: animation.range(of: frames), from: source)
        let facts = try loaded(source, .all)
        drawn.takeDescriptions(of: facts)
        drawn.set("loop", to: facts.timing.loop)
        return drawn
    }

    /// The frames that the daemon composes itself; nil if libvips does. O(bytes ÷ 255).
    private static func composed(_ source: borrowing VipsSource) -> GIFAnimation? {
        unsafe source.withBytes { unsafe GIFAnimation($0) }
    }

    /// A comment behind the header and its palette (GIF89a §24).
    static func addition(
        to image: borrowing VipsImage, _ ownership: Ownership, keepsAll: Bool
    ) -> MetadataAddition? {
        guard !ownership.isEmpty else { return nil }
        return MetadataAddition { header in
            guard header.count > 10 else { return nil }
            // Logical screen descriptor, §18: the flags contain whether a palette follows, and its size.
            let palette = header[10] & 0x80 == 0 ? 0 : 3 << (Int(header[10] & 7) + 1)
            var blocks: [UInt8] = [0x21, 0xFE]
            var rest = Array(ownership.line.utf8)[...]
            while !rest.isEmpty {
                let part = rest.prefix(255)
                blocks += [UInt8(part.count)] + part
                rest = rest.dropFirst(part.count)
            }
            return Insertion(bytes: blocks + [0], offset: headerLength + palette)
        }
    }

    /// The length of the signature and the logical screen descriptor.
    private static let headerLength = 13

    static func save(
        _ image: borrowing VipsImage, _ settings: EncodeSettings, strips: CInt
    ) throws(ImagingError) -> EncodedImage {
        guard settings.paletteBits == nil, image.isFrames else {
            return try written(image, settings, strips, reusesPalette: false)
        }
        // Every pixel is read twice.
        let frames = try image.computed().withoutFullAlpha()
        guard let palette = try SharedPalette(of: frames) else {
            return try written(frames, settings, strips, reusesPalette: false)
        }
        let output = try frames.duplicate()
        output.set(palette)
        return try written(output, settings, strips, reusesPalette: true)
    }

    private static func written(
        _ image: borrowing VipsImage, _ settings: EncodeSettings, _ strips: CInt, reusesPalette: Bool
    ) throws(ImagingError) -> EncodedImage {
        let picture = unsafe image.raw
        let effort = effort(moves: image.isFrames, hasAllColors: settings.paletteBits == nil)
        return try unsafe .written { bytes, count in
            unsafe shim_save_gif(
                picture, &bytes, &count, effort.work, effort.dither, CInt(settings.paletteBits ?? 8),
                reusesPalette ? 1 : 0, strips)
        }
    }

    /// Work of 1–10, libvips' own default for a still, and how much of the error is spread.
    ///
    /// Nearly all of an animation's time goes into a palette for every frame, where they do not share one. Measured on three photos that
    /// move, 800 × 600: work 3 takes 27–38 % of the time of 7 for 1–4 % more bytes; with half the error spread the structural
    /// similarity is at most 0.003 less, and plain areas come out nearer to what they were.
    private static func effort(moves: Bool, hasAllColors: Bool) -> (work: CInt, dither: Double) {
        moves ? (3, hasAllColors ? 0.5 : 1) : (7, 1)
    }

    static func decodingWork(_ header: ImageHeader) -> Double { 1 }

    static func encodingWork(_ settings: EncodeSettings, frames: Int) -> Double { frames > 1 ? 25 : 70 }

    static func decodingMemory(_ job: DecodingJob) -> Int {
        guard !job.header.mustBeHeldWhole else { return job.composedFrames }
        let frame = job.frames > 1 ? job.header.size.area * DecodingJob.bytesPerPixel : 0
        return job.pixels * 6 + frame
    }

    /// Frames are read twice, for their palette and to be written.
    static func encodingMemory(pixels: Int, frames: Int, hasAlpha: Bool) -> Int {
        pixels * (frames > 1 ? 16 : 13)
    }
}
