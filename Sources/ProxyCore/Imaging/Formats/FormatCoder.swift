// SPDX-License-Identifier: Apache-2.0

import CVips

/// How a format is recognized, read and written by libvips, and what libvips and the libraries below it get wrong.
///
/// A requirement with a default describes most formats; a format states only where it differs, and why.
protocol FormatCoder: FormatTraits {
    // MARK: Recognizing

    /// The bytes with which its files begin; none if these alone do not identify them.
    static var signatures: [[UInt8]] { get }
    /// Recognizes the first bytes of a file that begins with no signature of any format.
    static func recognizes(_ prefix: ArraySlice<UInt8>) -> Bool

    // MARK: Reading

    /// The class names of its coders that libvips considers untrusted.
    static var untrustedCoders: [String] { get }
    /// Corrects in place bytes that the decoder misinterprets; returns the whole file if it has to grow.
    static func repaired(_ file: UnsafeMutableRawBufferPointer) -> [UInt8]?
    /// Throws for a file that would cost its decoder too much, or whose pixels it would invent.
    static func check(_ file: UnsafeRawBufferPointer) throws(ImagingError)
    /// What of a page the decoder would read wrongly; nil if nothing.
    static func unsupportedPart(of file: UnsafeRawBufferPointer, page: Int) -> String?
    /// Reads the header; decodes no pixel.
    static func header(of source: borrowing VipsSource) throws(ImagingError) -> ImageHeader
    /// Calls libvips' loader.
    static func load(_ source: RawSource, _ frames: FrameSelection, _ shrink: LoadShrink) -> RawImage?
    /// Opens a source for decoding from top to bottom, with the corrections that need its pixels or metadata.
    static func open(
        _ source: borrowing VipsSource, _ frames: FrameSelection, _ shrink: LoadShrink
    ) throws(ImagingError) -> VipsImage
    /// When the frames of an animation follow each other.
    static func timing(of source: borrowing VipsSource) throws(ImagingError) -> AnimationTiming
    /// A warning of its decoder after which part of the picture is invented; nil if there is none. O(bytes).
    static func damage(of file: UnsafeRawBufferPointer) -> String?
    /// The number of pixels of a picture that a drawing contains; nil if it is damaged, or librsvg may not decode it.
    static func embeddedPixels(of file: UnsafeRawBufferPointer) -> Int?
    /// The strongest shrinking by the decoder that still leaves the `needed` pixels on each side, or twice as many of a
    /// small source.
    static func shrink(_ header: ImageHeader, needed: PixelSize) -> LoadShrink

    // MARK: Writing

    /// The kinds of metadata that libvips' encoder writes, and that so keep their ownership when everything is kept.
    static var writtenMetadata: Set<MetadataKind> { get }
    /// Sets in the image what libvips is to write of the ownership; returns the change to be made to the written file for
    /// the rest, nil if there is none.
    static func addition(
        to image: borrowing VipsImage, _ ownership: Ownership, keepsAll: Bool
    ) -> MetadataAddition?
    /// Computes all pixels and encodes them; the image is this call's own. With `strips` 1, libvips writes no metadata.
    static func save(
        _ image: borrowing VipsImage, _ settings: EncodeSettings, strips: CInt
    ) throws(ImagingError) -> EncodedImage
}

extension FormatCoder {
    static var signatures: [[UInt8]] { [] }
    static func recognizes(_ prefix: ArraySlice<UInt8>) -> Bool { false }
    static var untrustedCoders: [String] { [] }
    package static var isWrittenOnlyIfRead: Bool { !untrustedCoders.isEmpty }
    static func repaired(_ file: UnsafeMutableRawBufferPointer) -> [UInt8]? { nil }
    static func check(_ file: UnsafeRawBufferPointer) throws(ImagingError) {}
    static func unsupportedPart(of file: UnsafeRawBufferPointer, page: Int) -> String? { nil }
    static func damage(of file: UnsafeRawBufferPointer) -> String? { nil }
    static func embeddedPixels(of file: UnsafeRawBufferPointer) -> Int? { nil }
    static func shrink(_ header: ImageHeader, needed: PixelSize) -> LoadShrink { .none }

    static func header(of source: borrowing VipsSource) throws(ImagingError) -> ImageHeader {
        try checkedHeader(of: source)
    }

    /// The header as libvips reads it.
    static func checkedHeader(of source: borrowing VipsSource) throws(ImagingError) -> ImageHeader {
        try unsafe source.withBytes { (file) throws(ImagingError) in try unsafe check(file) }
        let image = try loaded(source, .primary)
        return ImageHeader(
            format: format, size: image.size, frames: image.pagesInSource, hasAlpha: image.hasAlpha,
            orientation: image.orientation, mustBeHeldWhole: image.integer("interlaced", otherwise: 0) != 0)
    }

    static func open(
        _ source: borrowing VipsSource, _ frames: FrameSelection, _ shrink: LoadShrink
    ) throws(ImagingError) -> VipsImage {
        try loaded(source, frames, shrink)
    }

    /// The picture as libvips decodes it.
    static func loaded(
        _ source: borrowing VipsSource, _ frames: FrameSelection, _ shrink: LoadShrink = .none
    ) throws(ImagingError) -> VipsImage {
        let flaw = unsafe source.withBytes { unsafe unsupportedPart(of: $0, page: Int(frames.first)) }
        if let flaw { throw .unsupportedFormat(flaw) }
        return try unsafe VipsImage(adopting: load(source.raw, frames, shrink), isSequential: true)
    }

    static func timing(of source: borrowing VipsSource) throws(ImagingError) -> AnimationTiming {
        try loaded(source, .all).timing
    }

    static var writtenMetadata: Set<MetadataKind> { [.exif, .xmp] }

    static func addition(
        to image: borrowing VipsImage, _ ownership: Ownership, keepsAll: Bool
    ) -> MetadataAddition? {
        if keepsAll { image.setOwnership(image.ownership(lostBeside: writtenMetadata)) }
        return nil
    }

    /// What EXIF has to contain where libvips writes none.
    static func exif(
        of image: borrowing VipsImage, _ ownership: Ownership, keepsAll: Bool
    ) -> ExifBlock? {
        keepsAll ? image.exif(adding: image.ownership(lostBeside: writtenMetadata)) : ExifBlock(ownership)
    }
}

/// A format that is only read: results become others.
protocol ReadOnlyFormat: FormatCoder {}

extension ReadOnlyFormat {
    static var isWritable: Bool { false }
    /// Of what is written in its place.
    static func encodingWork(_ settings: EncodeSettings, frames: Int) -> Double { 10 }
    /// Likewise: JPEG takes so much.
    static func encodingMemory(pixels: Int, frames: Int, hasAlpha: Bool) -> Int {
        JPEG.encodingMemory(pixels: pixels, frames: frames, hasAlpha: hasAlpha)
    }

    static func save(
        _ image: borrowing VipsImage, _ settings: EncodeSettings, strips: CInt
    ) throws(ImagingError) -> EncodedImage {
        throw .unsupportedFormat("\(format.rawValue) is read only")
    }
}

extension FrameSelection {
    /// The first frame or page.
    var first: CInt {
        switch self {
        case .primary, .all: 0
        case .single(let index): CInt(clamping: index)
        case .range(let range): CInt(clamping: range.lowerBound)
        }
    }

    /// The number of frames; -1 means all.
    var count: CInt {
        switch self {
        case .primary, .single: 1
        case .range(let range): CInt(clamping: range.count)
        case .all: -1
        }
    }
}

extension LoadShrink {
    /// The parameter of the JPEG decoder.
    var divisor: CInt {
        guard case .divisor(let divisor) = self else { return 1 }
        return CInt(clamping: divisor)
    }

    /// The parameter of decoders with a free scale.
    var scale: Double {
        guard case .scale(let scale) = self else { return 1 }
        return scale
    }
}
