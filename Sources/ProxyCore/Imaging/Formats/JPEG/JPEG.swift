// SPDX-License-Identifier: Apache-2.0

import CVips

/// JPEG, by libjpeg-turbo 2.1.5 (Debian 12).
///
/// To examine again with another version:
/// - libjpeg decodes any number of scans, and any size without bytes for it (`JPEGScans`).
/// - It replaces damaged parts and only warns; libvips 8.14 keeps the first warning alone (`damage`).
/// - Its shrinking loses the columns and rows that do not fill a pixel (`growToMultiple`), and fine detail (`shrink`).
/// - The codes of a baseline file that is shrunk by eight are read by `jpeg-codes.h`, which relies on jpegint.h.
/// - libvips 8.14 writes only ASCII letters into EXIF (`addition`).
enum JPEG: FormatCoder {
    static let format = ImageFormat.jpeg
    static let mediaType = "image/jpeg"
    static let fileExtension = "jpg"
    static let aliases = ["jpg"]
    static let storedCode: UInt8 = 1
    static let signatures: [[UInt8]] = [[0xFF, 0xD8, 0xFF]]

    static let supportsAlpha = false
    static let isShownByBrowsers = true
    static let maxSide = 65_500
    static let canBeProgressive = true
    static let defaultQuality: Int? = 80

    static func check(_ file: UnsafeRawBufferPointer) throws(ImagingError) {
        let scans = unsafe JPEGScans(of: file)
        guard scans.count <= JPEGScans.limit else { throw .badImageData("too many scans") }
        guard scans.leastBytes <= file.count else {
            throw .badImageData("fewer bytes than a picture of its size takes")
        }
        // Grey, colours, inks (JFIF; Adobe): two mean nothing.
        guard scans.components.map({ [1, 3, 4].contains($0) }) ?? true else {
            throw .badImageData("a JPEG of \(scans.components ?? 0) components")
        }
    }

    static func load(_ source: RawSource, _ frames: FrameSelection, _ shrink: LoadShrink) -> RawImage? {
        unsafe shim_load_jpeg(source, shrink.divisor)
    }

    /// The first serious warning of all that libjpeg gives.
    static func damage(of file: UnsafeRawBufferPointer) -> String? {
        var text = [CChar](repeating: 0, count: damageTextLimit)
        guard let start = file.baseAddress,
            unsafe shim_jpeg_damage(start, file.count, &text, text.count) != 0
        else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// libjpeg's messages (JMSG_LENGTH_MAX) are shorter.
    private static let damageTextLimit = 256

    static func embeddedPixels(of file: UnsafeRawBufferPointer) -> Int? {
        let scans = unsafe JPEGScans(of: file)
        return scans.count <= JPEGScans.limit && scans.leastBytes <= file.count ? scans.pixels : nil
    }

    /// The decoder omits frequencies. Resampling the rest is a quarter cheaper than stopping one step earlier.
    static func shrink(_ header: ImageHeader, needed: PixelSize) -> LoadShrink {
        let surplus = header.surplus(over: needed)
        let divisor = [8, 4, 2].first { divisor in
            let isExact =
                (header.size.width + divisor - 1) / divisor == needed.width
                && (header.size.height + divisor - 1) / divisor == needed.height
            return Double(divisor) <= header.decodedSurplus(over: needed)
                && (isExact || surplus / Double(divisor) >= leastResampling)
        }
        return divisor.map(LoadShrink.divisor) ?? .none
    }

    /// What is left to resample behind the decoder must be nothing, or at least this factor: resampling by less
    /// takes from fine detail what a decoder's own shrinking has left of it.
    private static let leastResampling = 1.25

    static let writtenMetadata: Set<MetadataKind> = [.exif, .xmp, .iptc]

    /// A segment of EXIF (EXIF 2.32 §4.7.2) behind a leading JFIF segment, unless it is too long.
    static func addition(
        to image: borrowing VipsImage, _ ownership: Ownership, keepsAll: Bool
    ) -> MetadataAddition? {
        guard !keepsAll else {
            image.setOwnership(image.ownership(lostBeside: writtenMetadata))
            return nil
        }
        let body = Array("Exif\0\0".utf8) + ExifBlock(ownership).bytes
        return MetadataAddition(replacesAll: true) { header in
            guard header.count >= 6, body.count <= 0xFFFF - 2 else { return nil }
            let hasJFIF = header[2] == 0xFF && header[3] == 0xE0
            return Insertion(
                bytes: [0xFF, 0xE1] + bigEndian(body.count + 2, length: 2) + body,
                offset: hasJFIF ? 4 + (header.number(at: 4, length: 2) ?? 0) : 2)
        }
    }

    static func save(
        _ image: borrowing VipsImage, _ settings: EncodeSettings, strips: CInt
    ) throws(ImagingError) -> EncodedImage {
        let picture = unsafe image.raw
        return try unsafe .written { bytes, count in
            unsafe shim_save_jpeg(
                picture, &bytes, &count, CInt(clamping: settings.quality),
                settings.isProgressive ?? true ? 1 : 0, strips)
        }
    }

    static func isStreamed(_ header: ImageHeader) -> Bool { true }

    static func decodingWork(_ header: ImageHeader) -> Double { header.mustBeHeldWhole ? 0.8 : 0.4 }

    static func encodingWork(_ settings: EncodeSettings, frames: Int) -> Double {
        settings.isProgressive ?? true ? 1 : 0.5
    }

    static func decodingMemory(_ job: DecodingJob) -> Int {
        // Coefficients of 16 bits for each of three samples.
        guard !job.header.mustBeHeldWhole else { return job.pixels * 6 }
        return job.rows(job.isLinear ? DecodingJob.rowsInFlight : shrunkRows)
    }

    static func encodingMemory(pixels: Int, frames: Int, hasAlpha: Bool) -> Int { pixels * 4 }

    /// Rows that are in memory at once if the decoder shrinks.
    private static let shrunkRows = 384
}

extension VipsSource {
    /// Enlarges the declared size of a JPEG to the next multiple of `divisor`; its data consists of whole
    /// blocks. A decoder that omits frequencies then keeps the columns and rows that do not fill a pixel of
    /// its own.
    ///
    /// - Returns: whether the size was changed.
    borrowing func growToMultiple(of divisor: Int) -> Bool {
        unsafe withBytes { file in
            guard let place = unsafe JPEGScans(of: file).growingSize else { return false }
            let bytes = unsafe UnsafeMutableRawBufferPointer(mutating: file)
            let sides = [place, place + 2].map { unsafe file.number(at: $0, length: 2) ?? 0 }
                .map { ($0 + divisor - 1) / divisor * divisor }
            guard sides.allSatisfy({ (1...JPEG.maxSide).contains($0) }) else { return false }
            for (index, byte) in sides.flatMap({ bigEndian($0, length: 2) }).enumerated() {
                unsafe bytes[place + index] = byte
            }
            return true
        }
    }
}
