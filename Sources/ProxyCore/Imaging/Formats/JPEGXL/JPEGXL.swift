// SPDX-License-Identifier: Apache-2.0

import CVips

/// JPEG XL, by libjxl 0.7.0 (Debian 12).
///
/// To examine again with another version:
/// - libvips 8.14 considers its coders untrusted.
/// - It returns the last frame of an animation for the whole (`unsupportedPart`).
/// - It reads no metadata (`open`), writes no EXIF (`addition`), and takes a quality below 5 for the best (`leastQuality`).
enum JPEGXL: FormatCoder {
    static let format = ImageFormat.jxl
    static let title = "JPEG XL"
    static let mediaType = "image/jxl"
    static let storedCode: UInt8 = 8
    /// A bare codestream, and one in boxes.
    static let signatures: [[UInt8]] = [JXLHeader.signature, container]
    static let untrustedCoders = ["VipsForeignLoadJxl", "VipsForeignSaveJxl"]

    static let maxSide = 1_000_000
    static let canBeLossless = true
    static let hasFastEffort = true
    static let defaultQuality: Int? = 77
    static let leavesMemoryUnwritten = true

    /// The first box of a container (ISO/IEC 18181-2).
    private static let container = bigEndian(12) + Array("JXL ".utf8) + [0x0D, 0x0A, 0x87, 0x0A]

    static func unsupportedPart(of file: UnsafeRawBufferPointer, page: Int) -> String? {
        unsafe JXLHeader(file)?.isAnimated ?? false ? "animated JPEG XL" : nil
    }

    static func load(_ source: RawSource, _ frames: FrameSelection, _ shrink: LoadShrink) -> RawImage? {
        unsafe shim_load_jxl(source)
    }

    /// With EXIF and XMP of the file's own boxes (18181-2 §9.3, §9.4), which libvips 8.14 does not read; compressed ones (`brob`) are
    /// not read.
    static func open(
        _ source: borrowing VipsSource, _ frames: FrameSelection, _ shrink: LoadShrink
    ) throws(ImagingError) -> VipsImage {
        let image = try loaded(source, frames)
        let (exif, xmp) = unsafe source.withBytes { file -> ([UInt8]?, [UInt8]?) in
            guard unsafe file.starts(with: container) else { return (nil, nil) }
            let boxes = unsafe BoxReader(file).boxes()
            func content(_ box: BoxReader?) -> [UInt8]? {
                box.flatMap { $0.rest <= VipsImage.blobLimit ? $0.remaining : nil }
            }
            var block = boxes.first("Exif")
            // The block's offset stands before it: 0 in all files that programs write.
            let isPlain = block?.number(4) == 0
            return (isPlain ? content(block) : nil, content(boxes.first("xml ")))
        }
        guard exif != nil || xmp != nil else { return image }
        let own = try image.duplicate()
        if let exif {
            own.set("exif-data", to: exif)
            // libvips takes the orientation from the block; the decoder has turned the picture already.
            own.remove("orientation")
        }
        if let xmp { own.set("xmp-data", to: xmp) }
        return own
    }

    static let writtenMetadata: Set<MetadataKind> = [.exif]

    /// EXIF in a container before a bare codestream, which becomes the container's last box; nothing if the codestream
    /// is already in a container.
    static func addition(
        to image: borrowing VipsImage, _ ownership: Ownership, keepsAll: Bool
    ) -> MetadataAddition? {
        guard let block = exif(of: image, ownership, keepsAll: keepsAll) else { return nil }
        return MetadataAddition { header in
            guard header.starts(with: JXLHeader.signature) else { return nil }
            let type = bigEndian(20) + Array("ftypjxl ".utf8) + bigEndian(0) + Array("jxl ".utf8)
            let metadata = bigEndian(block.bytes.count + 12) + Array("Exif".utf8) + bigEndian(0) + block.bytes
            // A length of 0 extends to the end of the file.
            let last = bigEndian(0) + Array("jxlc".utf8)
            return Insertion(bytes: container + type + metadata + last, offset: 0)
        }
    }

    static func save(
        _ image: borrowing VipsImage, _ settings: EncodeSettings, strips: CInt
    ) throws(ImagingError) -> EncodedImage {
        let picture = unsafe image.raw
        return try unsafe .written { bytes, count in
            unsafe shim_save_jxl(
                picture, &bytes, &count, CInt(clamping: max(settings.quality, leastQuality)),
                settings.isLossless ? 1 : 0, settings.effort == .fast ? fastEffort : fullEffort, strips)
        }
    }

    /// libvips would write the best instead of a lower one, without a word.
    private static let leastQuality = 5
    /// Of 1–9; 7 is libjxl's own default. 5 takes about half its time for the same bytes.
    private static let fastEffort: CInt = 5
    private static let fullEffort: CInt = 7

    static func decodingWork(_ header: ImageHeader) -> Double { 2.5 }

    static func encodingWork(_ settings: EncodeSettings, frames: Int) -> Double {
        let (lossy, lossless) = settings.effort == .fast ? (10.0, 80.0) : (13.0, 150.0)
        return settings.isLossless ? lossless : lossy
    }

    static func decodingMemory(_ job: DecodingJob) -> Int { job.pixels * 12 }

    static func encodingMemory(pixels: Int, frames: Int, hasAlpha: Bool) -> Int { pixels * 32 }
}
