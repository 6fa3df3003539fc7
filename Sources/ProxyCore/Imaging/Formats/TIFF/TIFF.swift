// SPDX-License-Identifier: Apache-2.0

import CVips

/// TIFF, by libtiff 4.5.0 (Debian 12).
///
/// To examine again with another version:
/// - libvips 8.14 misinterprets some sample formats (`TIFFPage`).
/// - It neither reads nor writes artist and copyright (`open`, `addition`).
enum TIFF: FormatCoder {
    static let format = ImageFormat.tiff
    static let mediaType = "image/tiff"
    static let storedCode: UInt8 = 7
    /// TIFF 6.0 §2, and BigTIFF with offsets of eight bytes, in either byte order.
    static let signatures: [[UInt8]] = [
        [0x49, 0x49, 0x2A, 0x00], [0x4D, 0x4D, 0x00, 0x2A],
        [0x49, 0x49, 0x2B, 0x00, 0x08, 0x00, 0x00, 0x00], [0x4D, 0x4D, 0x00, 0x2B, 0x00, 0x08, 0x00, 0x00],
    ]

    static let hasPages = true
    static let maxSide = 1_000_000
    static let canBeLossless = true
    static let leavesMemoryUnwritten = true

    static func unsupportedPart(of file: UnsafeRawBufferPointer, page: Int) -> String? {
        unsafe TIFFPage(file, index: page)?.unsupported
    }

    static func load(_ source: RawSource, _ frames: FrameSelection, _ shrink: LoadShrink) -> RawImage? {
        unsafe shim_load_tiff(source, frames.first)
    }

    static func open(
        _ source: borrowing VipsSource, _ frames: FrameSelection, _ shrink: LoadShrink
    ) throws(ImagingError) -> VipsImage {
        // A TIFF begins as a block of EXIF does.
        let tags = unsafe source.withBytes { unsafe ExifBlock(Array($0)) }
        let ownership = tags.map { Ownership(copyright: $0.text(.copyright), artist: $0.text(.artist)) }
        let block = ownership.flatMap { $0.isEmpty ? nil : ExifBlock($0) }
        return try loaded(source, frames).adding(exif: block?.bytes)
    }

    static func addition(
        to image: borrowing VipsImage, _ ownership: Ownership, keepsAll: Bool
    ) -> MetadataAddition? {
        guard !ownership.isEmpty else { return nil }
        return MetadataAddition { (encoded: consuming EncodedImage) in
            let file = unsafe encoded.withBytes { unsafe Array($0) }
            guard let tags = ExifBlock(file)?.directory(with: ownership) else { return encoded }
            return encoded.inserting(tags.directory).replacing(tags.pointer)
        }
    }

    static func save(
        _ image: borrowing VipsImage, _ settings: EncodeSettings, strips: CInt
    ) throws(ImagingError) -> EncodedImage {
        let picture = unsafe image.raw
        return try unsafe .written { bytes, count in unsafe shim_save_tiff(picture, &bytes, &count, strips) }
    }

    static func isStreamed(_ header: ImageHeader) -> Bool { !header.mustBeHeldWhole }

    static func decodingWork(_ header: ImageHeader) -> Double { 1.2 }

    static func encodingWork(_ settings: EncodeSettings, frames: Int) -> Double { 10 }

    static func decodingMemory(_ job: DecodingJob) -> Int {
        job.header.mustBeHeldWhole ? job.pixels * 5 : job.rows(DecodingJob.rowsInFlight)
    }

    static func encodingMemory(pixels: Int, frames: Int, hasAlpha: Bool) -> Int { pixels * 3 }
}
