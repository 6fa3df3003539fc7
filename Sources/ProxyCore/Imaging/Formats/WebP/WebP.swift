// SPDX-License-Identifier: Apache-2.0

import CVips

/// WebP, by libwebp 1.2.4 (Debian 12).
///
/// To examine again with another version:
/// - libvips 8.14 allocates a whole frame when it opens a file, so the header is read without it (`WebPHeader`), and holds
///   every frame whole (`decodingMemory`).
/// - libwebp's scaling weights brightness by alpha, but not colours (`shrink`).
/// - It sets an animation's alpha flag only if a frame has alpha (`withAlphaFlag`).
/// - libvips 8.14 writes 186 bytes of EXIF, about resolution and size, into every file, also where it strips
///   (`withoutExif`).
enum WebP: FormatCoder {
    static let format = ImageFormat.webp
    static let title = "WebP"
    static let mediaType = "image/webp"
    static let storedCode: UInt8 = 3

    static let readsAnimations = true
    static let writesAnimations = true
    static let isShownByBrowsers = true
    static let maxSide = 16_383
    static let canBeLossless = true
    static let defaultQuality: Int? = 79

    static func recognizes(_ prefix: ArraySlice<UInt8>) -> Bool {
        prefix.starts(with: "RIFF".utf8) && prefix.dropFirst(8).starts(with: "WEBP".utf8)
    }

    static func header(of source: borrowing VipsSource) throws(ImagingError) -> ImageHeader {
        guard let header = unsafe source.withBytes({ unsafe WebPHeader($0) }) else {
            throw .badImageData("a WebP without a picture")
        }
        return ImageHeader(
            format: format, size: header.size, frames: header.frames, hasAlpha: header.hasAlpha,
            orientation: header.orientation, mustBeHeldWhole: header.isLossless)
    }

    static func load(_ source: RawSource, _ frames: FrameSelection, _ shrink: LoadShrink) -> RawImage? {
        unsafe shim_load_webp(source, frames.first, frames.count, shrink.scale)
    }

    static func shrink(_ header: ImageHeader, needed: PixelSize) -> LoadShrink {
        let surplus = header.decodedSurplus(over: needed)
        // Transparent pixels would show at edges.
        guard surplus > 1, !isWhole(header) else { return .none }
        return .scale(1 / surplus)
    }

    /// Only a lossless one is stored in a way that no decoder reads by rows.
    private static func isLossless(_ header: ImageHeader) -> Bool { header.mustBeHeldWhole }

    /// Whether it is decoded in its full size, because it has alpha and is lossy.
    private static func isWhole(_ header: ImageHeader) -> Bool { header.hasAlpha && !isLossless(header) }

    static func save(
        _ image: borrowing VipsImage, _ settings: EncodeSettings, strips: CInt
    ) throws(ImagingError) -> EncodedImage {
        if image.integer("loop", otherwise: 0) > mostPlays { image.set("loop", to: mostPlays) }
        let picture = unsafe image.raw
        let encoded = try unsafe EncodedImage.written { bytes, count in
            unsafe shim_save_webp(
                picture, &bytes, &count, CInt(clamping: settings.quality), settings.isLossless ? 1 : 0,
                settings.isQuickWebP ? quickEffort : effort, strips)
        }
        let stripped = strips == 1 ? withoutExif(encoded) : encoded
        return image.hasAlpha ? withAlphaFlag(stripped) : stripped
    }

    /// The format has 16 bits for them.
    private static let mostPlays = 65_535
    /// Of 0–6; libwebp's own default.
    private static let effort: CInt = 4
    /// What is made of an intermediate is mostly encoding. Measured on three photos made 640 pixels wide: 8–17 ms where 4
    /// takes 17–32, for 1–5% more bytes and at most 0.003 less structural similarity.
    private static let quickEffort: CInt = 2

    /// Sets the alpha flag in the header of an animation (RFC 9649 §2.7.1); without it, the canvas around opaque
    /// frames would be black.
    private static func withAlphaFlag(_ encoded: consuming EncodedImage) -> EncodedImage {
        let flags = unsafe encoded.withBytes { file -> UInt8? in
            guard file.count > 20, unsafe file[12..<16].elementsEqual("VP8X".utf8) else { return nil }
            return unsafe file[20]
        }
        guard let flags, flags & 0x02 != 0 else { return encoded }
        return encoded.replacing(Insertion(bytes: [flags | 0x10], offset: 20))
    }

    static func isStreamed(_ header: ImageHeader) -> Bool { !isWhole(header) }

    static func decodingWork(_ header: ImageHeader) -> Double {
        isLossless(header) || header.hasAlpha ? 1.8 : 1
    }

    static func encodingWork(_ settings: EncodeSettings, frames: Int) -> Double {
        guard !settings.isLossless else { return 66 }
        return frames > 1 ? 6.5 : 5
    }

    static func decodingMemory(_ job: DecodingJob) -> Int {
        let header = job.header
        guard isHeldWhole(job) else { return isLossless(header) ? job.pixels * 5 : 0 }
        return job.pixels * (isLossless(header) ? 10 : header.hasAlpha ? 9 : 7)
    }

    static func decodingPeak(_ job: DecodingJob) -> Int {
        guard isHeldWhole(job) else { return 0 }
        return job.pixels * (isLossless(job.header) ? 15 : job.header.hasAlpha ? 14 : 10)
    }

    private static func isHeldWhole(_ job: DecodingJob) -> Bool {
        isWhole(job.header) || !job.isShrunk || job.pixels < LoadShrink.smallSource
    }

    static func encodingMemory(pixels: Int, frames: Int, hasAlpha: Bool) -> Int {
        pixels * (hasAlpha ? 15 : 7)
    }
}
