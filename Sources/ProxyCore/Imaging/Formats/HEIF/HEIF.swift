// SPDX-License-Identifier: Apache-2.0

import CVips

/// What AVIF and HEIC have in common, by libheif 1.15.1 (Debian 12).
///
/// To examine again with another version:
/// - libheif leaves parts of a grid that no tile fills as uninitialized memory (`check`).
/// - It rotates the size before it has read it, where properties are in another order (`HEIFOrder`).
/// - It applies rotation, mirroring and cropping to alpha only if alpha names them, too (`HEIFAlpha`).
/// - It expands levels of limited range only when it converts from YCbCr (`HEIFItems.Levels`).
protocol HEIFCoder: FormatCoder {}

extension HEIFCoder {
    static var hasPages: Bool { true }
    static var leavesMemoryUnwritten: Bool { true }
    static var maxSide: Int { 16_384 }

    static func recognizes(_ prefix: ArraySlice<UInt8>) -> Bool { HEIFBrands.format(of: prefix) == format }

    static func repaired(_ file: UnsafeMutableRawBufferPointer) -> [UInt8]? {
        unsafe HEIFOrder.arrange(file)
        return unsafe HEIFAlpha.completed(UnsafeRawBufferPointer(file))
    }

    static func check(_ file: UnsafeRawBufferPointer) throws(ImagingError) {
        guard unsafe HEIFItems(file)?.gridsAreFilled ?? true else {
            throw .badImageData("a grid that its tiles do not fill")
        }
    }

    static func load(_ source: RawSource, _ frames: FrameSelection, _ shrink: LoadShrink) -> RawImage? {
        unsafe shim_load_heif(source, frames == .primary ? -1 : frames.first)
    }

    /// - Returns: the picture, in 8 bits if its levels were corrected.
    static func open(
        _ source: borrowing VipsSource, _ frames: FrameSelection, _ shrink: LoadShrink
    ) throws(ImagingError) -> VipsImage {
        let image = try loaded(source, frames).withWrappedXMP()
        guard let levels = unsafe source.withBytes({ unsafe HEIFItems($0)?.levels }),
            levels != HEIFItems.Levels()
        else { return image }
        let narrow = try image.inEightBits()
        let hasAlpha = narrow.hasAlpha
        let curves = [ToneCurve](repeating: levels.ofColors, count: narrow.bands - (hasAlpha ? 1 : 0))
        let scaled = try narrow.lookedUp(in: hasAlpha ? curves + [levels.ofAlpha] : curves)
        return hasAlpha && levels.isPremultiplied ? try scaled.unpremultiplied() : scaled
    }

    static func decodingWork(_ header: ImageHeader) -> Double { 2.2 }

    /// Planes and pixels.
    static func decodingMemory(_ job: DecodingJob) -> Int { job.pixels * 10 }
}

/// HEVC in HEIF, decoded by libde265 1.0.11.
enum HEIC: HEIFCoder, ReadOnlyFormat {
    static let format = ImageFormat.heic
    static let mediaType = "image/heic"
    static let storedCode: UInt8 = 6
}

/// AV1 in HEIF, by libaom 3.6.0.
///
/// To examine again with another version: libheif 1.15.1 reports success for a picture that it had no memory for, and
/// writes a file without a picture (`save`).
enum AVIF: HEIFCoder {
    static let format = ImageFormat.avif
    static let mediaType = "image/avif"
    static let storedCode: UInt8 = 4
    static let isShownByBrowsers = true
    /// It rounds levels when it converts RGB to YCbCr, but keeps the full resolution of every plane.
    static let mayRequestLossless = true
    static let hasFastEffort = true
    static let defaultQuality: Int? = 63

    static func automaticPixels(in plan: RenderPlan) -> Int { plan.avifMaxPixels }

    static func save(
        _ image: borrowing VipsImage, _ settings: EncodeSettings, strips: CInt
    ) throws(ImagingError) -> EncodedImage {
        let (picture, size) = unsafe (image.raw, image.size)
        let encoded = try unsafe EncodedImage.written { bytes, count in
            unsafe shim_save_avif(
                picture, &bytes, &count, CInt(clamping: settings.quality), settings.isLossless ? 1 : 0,
                settings.effort == .fast ? fastEffort : fullEffort, strips)
        }
        let isReadable = unsafe encoded.withBytes { file in
            unsafe shim_is_readable(file.baseAddress, file.count, CInt(size.width), CInt(size.height))
        }
        guard isReadable == 1 else { throw .outOfMemory("the AVIF that was written holds no picture") }
        return encoded
    }

    /// Of 0–9. Measured at equal SSIMULACRA2 (75): 0 takes 9.7 ms for a photo 400 pixels wide where 3 takes 84, and 40 ms
    /// at 1000 pixels where 3 takes 410, for 6–10 % more bytes; 1, 2 and 4 gain less for their time.
    private static let fastEffort: CInt = 0
    private static let fullEffort: CInt = 3

    /// Above a quality of 80 it is more: measured 1.5 s at the default, 1.7 at 80, 5.5 at 99 and 9.9 to 12 at 100, for a
    /// picture of 1410 × 1410 with many edges.
    static func encodingWork(_ settings: EncodeSettings, frames: Int) -> Double {
        let (lossy, lossless) = settings.effort == .fast ? (8.0, 22.0) : (45.0, 60.0)
        guard !settings.isLossless else { return lossless }
        return lossy * (settings.quality == 100 ? 5 : 1 + 1.5 * Double(max(0, settings.quality - 80)) / 19)
    }

    static func encodingMemory(pixels: Int, frames: Int, hasAlpha: Bool) -> Int {
        leastEncodingMemory + pixels * 25
    }

    /// Bytes of an AV1 encoder for the smallest picture.
    private static let leastEncodingMemory = 8 << 20
}

/// The brands of an ISO base media file (ISO/IEC 14496-12 §4.3).
private enum HEIFBrands {
    private static let formats: [String: ImageFormat] = [
        "avif": .avif, "avis": .avif,
        "heic": .heic, "heix": .heic, "heim": .heic, "heis": .heic, "hevc": .heic, "hevx": .heic,
    ]

    /// The format of the first known brand: first the major one, then the others.
    static func format(of prefix: ArraySlice<UInt8>) -> ImageFormat? {
        let bytes = Array(prefix)
        let end = min(bytes.number(at: 0, length: 4) ?? 0, bytes.count)
        guard end >= 12, bytes[4..<8].elementsEqual("ftyp".utf8) else { return nil }
        let compatible = stride(from: 16, through: end - 4, by: 4)
        return ([8] + Array(compatible)).lazy.compactMap { start in
            formats[String(decoding: bytes[start..<start + 4], as: UTF8.self)]
        }.first
    }
}
