// SPDX-License-Identifier: Apache-2.0

import CVips
import Primitives

/// Reads and writes pictures by libvips, each format by its own coder, chosen by us and never by a name.
package enum VipsCoder {
    /// Reads a source's header; no pixel is decoded.
    package static func header(
        of source: borrowing VipsSource, as format: ImageFormat
    ) throws(ImagingError) -> ImageHeader {
        try VipsLibrary.start()
        VipsLibrary.unblock(format)
        var embedded = 0
        if format == .svg {
            try unsafe source.withBytes { (text) throws(ImagingError) in
                embedded = try unsafe DrawingGuard.check(text)
            }
        }
        if format == .webp { return try webpHeader(of: source) }
        if format == .jpeg {
            try unsafe source.withBytes { (file) throws(ImagingError) in
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
        }
        if format.isHEIF, !source.gridsAreFilled { throw .badImageData("a grid that its tiles do not fill") }
        if format == .png {
            try unsafe source.withBytes { (file) throws(ImagingError) in
                try unsafe PNGChunks.checkWeight(of: file)
            }
        }
        if format == .gif {
            try unsafe source.withBytes { (file) throws(ImagingError) in
                try unsafe GIFAnimation.check(file)
            }
        }
        try source.checkSupport(of: format, page: 0)
        let image = try unsafe VipsImage(
            adopting: loader(source.raw, format, format == .png ? 0 : -1, 1, .none), isSequential: true)
        if format == .svg { try checkSides(of: image, source) }
        if let drawn = source.gifAnimation {
            return ImageHeader(
                format: .gif, size: drawn.canvas, frames: drawn.frames.count, hasAlpha: true,
                orientation: image.orientation, isInterlaced: true)
        }
        let orientation = source.pngExif.flatMap { ExifBlock($0)?.orientation } ?? image.orientation
        return ImageHeader(
            format: format, size: image.size,
            frames: source.pngAnimation?.frames.count ?? image.pagesInSource, hasAlpha: image.hasAlpha,
            orientation: orientation, isInterlaced: image.integer("interlaced", otherwise: 0) != 0,
            embeddedPixels: embedded)
    }

    /// Throws `tooManyPixels` for a drawing with a side that libvips can't hold, and takes for one pixel.
    private static func checkSides(
        of image: borrowing VipsImage, _ source: borrowing VipsSource
    ) throws(ImagingError) {
        let size = image.size
        guard size.width == 1 || size.height == 1 else { return }
        // One pixel of the drawing's own would be more of them here.
        let larger = try loaded(source, .svg, .primary, .scale(4)).size
        let isHeld =
            (size.width > 1 || larger.width > 1) && (size.height > 1 || larger.height > 1)
        guard isHeld else { throw .tooManyPixels("the drawing has a side longer than can be drawn") }
    }

    /// How a source stores its samples; no pixel is decoded.
    static func sampleFacts(
        of source: borrowing VipsSource, as format: ImageFormat
    ) throws(ImagingError) -> VipsImage.SampleFacts {
        try loaded(source, format, .primary, .none).sampleFacts
    }

    /// Reads the header of one page: its size, alpha and orientation may be others than the file's first page has.
    package static func header(
        ofPage index: Int, in source: borrowing VipsSource, _ file: ImageHeader
    ) throws(ImagingError) -> ImageHeader {
        let image = try loaded(source, file.format, .single(index), .none)
        return ImageHeader(
            format: file.format, size: image.size, frames: file.frames, hasAlpha: image.hasAlpha,
            orientation: image.orientation, isInterlaced: file.isInterlaced)
    }

    /// When the frames of an animation follow each other.
    static func timing(
        of source: borrowing VipsSource, as format: ImageFormat
    ) throws(ImagingError) -> AnimationTiming {
        if let animation = source.pngAnimation { return animation.timing }
        return try loaded(source, format, .all, .none).timing
    }

    private static func webpHeader(of source: borrowing VipsSource) throws(ImagingError) -> ImageHeader {
        var header: WebPHeader?
        unsafe source.withBytes { (bytes) throws(Never) in header = unsafe WebPHeader(bytes) }
        guard let header else { throw .badImageData("a WebP without a picture") }
        return ImageHeader(
            format: .webp, size: header.size, frames: header.frames, hasAlpha: header.hasAlpha,
            orientation: header.orientation, isInterlaced: header.isLossless)
    }

    /// Opens a source for decoding from top to bottom; a truncated or damaged one fails when its pixels are read.
    package static func open(
        _ source: borrowing VipsSource, as format: ImageFormat, frames: FrameSelection, shrink: LoadShrink
    ) throws(ImagingError) -> VipsImage {
        if let animation = source.pngAnimation, frames != .primary || !animation.beginsWithPicture {
            let drawn = try FrameCanvas.image(
                of: animation, frames: animation.range(of: frames), from: source)
            drawn.takeDescriptions(of: try loaded(source, format, .primary, shrink))
            if let exif = source.pngExif { drawn.set("exif-data", to: exif) }
            return drawn
        }
        if let animation = source.gifAnimation {
            let drawn = try FrameCanvas.image(
                of: animation, frames: animation.range(of: frames), from: source)
            let facts = try loaded(source, format, .all, .none)
            drawn.takeDescriptions(of: facts)
            drawn.set("loop", to: facts.timing.loop)
            return drawn
        }
        let image = try loaded(source, format, frames, shrink)
        if format.isHEIF { return try source.corrected(image) }
        guard let exif = source.pngExif ?? source.tiffOwnership, image.blob("exif-data") == nil else {
            return image
        }
        // libvips 8.14 does not read this chunk, nor these tags.
        let own = try image.duplicate()
        own.set("exif-data", to: exif)
        return own
    }

    private static func loaded(
        _ source: borrowing VipsSource, _ format: ImageFormat, _ frames: FrameSelection, _ shrink: LoadShrink
    ) throws(ImagingError) -> VipsImage {
        let (page, count) = pages(frames)
        try source.checkSupport(of: format, page: Int(max(0, page)))
        let made = unsafe loader(source.raw, format, page, count, shrink)
        return try unsafe VipsImage(adopting: made, isSequential: true)
    }

    /// libvips' first page and number of pages; -1 pages means all, a page of -1 the primary one.
    private static func pages(_ frames: FrameSelection) -> (page: CInt, count: CInt) {
        switch frames {
        case .primary: (-1, 1)
        case .single(let index): (CInt(clamping: index), 1)
        case .range(let range): (CInt(clamping: range.lowerBound), CInt(clamping: range.count))
        case .all: (0, -1)
        }
    }

    private static func loader(
        _ source: UnsafeMutablePointer<CVips.VipsSource>, _ format: ImageFormat, _ page: CInt, _ count: CInt,
        _ shrink: LoadShrink
    ) -> UnsafeMutablePointer<CVips.VipsImage>? {
        let first = max(0, page)
        switch format {
        case .jpeg: return unsafe shim_load_jpeg(source, shrink.divisor)
        case .png: return unsafe shim_load_png(source)
        case .webp: return unsafe shim_load_webp(source, first, count, shrink.scale)
        case .gif: return unsafe shim_load_gif(source, first, count)
        case .avif, .heic: return unsafe shim_load_heif(source, page)
        case .tiff: return unsafe shim_load_tiff(source, first)
        case .jxl: return unsafe shim_load_jxl(source)
        case .svg: return unsafe shim_load_svg(source, shrink.scale)
        }
    }

    /// Computes all pixels of `image` and encodes them.
    package static func encode(
        _ image: borrowing VipsImage, _ settings: EncodeSettings
    ) throws(ImagingError) -> EncodedImage {
        if settings.format == .gif, settings.paletteBits == nil, image.isFrames {
            // Every pixel is read twice.
            let frames = try image.computed().withoutFullAlpha()
            return try encoded(frames, settings, SharedPalette(of: frames))
        }
        return try encoded(image, settings, nil)
    }

    /// WebP has 16 bits for them.
    private static let mostWebPPlays = 65_535

    private static func encoded(
        _ image: borrowing VipsImage, _ settings: EncodeSettings, _ palette: SharedPalette?
    ) throws(ImagingError) -> EncodedImage {
        let prepared =
            try settings.format.row.supportsAlpha ? image.duplicate() : image.flattened(onto: .white)
        let output = try prepared.duplicate()
        if let palette { output.set(palette) }
        if settings.format == .webp, output.integer("loop", otherwise: 0) > Self.mostWebPPlays {
            output.set("loop", to: Self.mostWebPPlays)
        }
        let insertion = describe(output, settings)
        var bytes: UnsafeMutableRawPointer?
        var count = 0
        let strips: CInt = insertion.isBare ? 1 : 0
        let code = unsafe save(output.raw, &bytes, &count, settings, strips, reuse: palette == nil ? 0 : 1)
        guard code == 0, let bytes = unsafe bytes else { throw VipsLibrary.failure() }
        let encoded = unsafe EncodedImage(adopting: bytes, count: count)
        if settings.format == .webp, output.hasAlpha { encoded.declareAlpha() }
        if settings.format == .avif {
            let size = output.size
            let isReadable = unsafe shim_is_readable(bytes, count, CInt(size.width), CInt(size.height))
            guard isReadable == 1 else { throw .outOfMemory("the AVIF that was written holds no picture") }
        }
        return insertion.apply(to: encoded)
    }

    /// Encodes `image` the best way that takes at most `limit` bytes; a step of the ladder is tried at most eight times.
    package static func encode(
        _ image: borrowing VipsImage, _ settings: EncodeSettings, within limit: Int
    ) throws(ImagingError) -> EncodedImage {
        // Every try reads all pixels.
        let ready = try image.computed()
        let ladder = settings.ladder
        var best = try encode(ready, ladder[0])
        if best.count <= limit { return best }
        var smallest = best.count
        var found = false
        var steps = 1..<ladder.count
        while !steps.isEmpty {
            let middle = steps.lowerBound + steps.count / 2
            let attempt = try encode(ready, ladder[middle])
            smallest = min(smallest, attempt.count)
            if attempt.count <= limit {
                found = true
                best = attempt
                steps = steps.lowerBound..<middle
            } else {
                steps = middle + 1..<steps.upperBound
            }
        }
        guard found else {
            throw .tooManyBytes("max_bytes is \(limit), and the smallest is \(smallest) bytes")
        }
        return best
    }

    /// Whether all pixels of a source can be read: what failed on the way to a result was then not the source's fault.
    package static func isSound(
        _ source: borrowing VipsSource, as format: ImageFormat, frames: FrameSelection
    ) -> Bool {
        do throws(ImagingError) {
            let image = try open(source, as: format, frames: frames, shrink: .none)
            return unsafe shim_read_all(image.raw) == 0
        } catch {
            return false
        }
    }

    /// What describes a picture beside what libvips writes of it.
    private enum Description {
        /// Nothing, and libvips writes nothing either.
        case bare
        /// What libvips writes is all.
        case complete
        /// EXIF in a PNG, which libvips does not write.
        case chunk(ExifBlock)
        /// EXIF in a JPEG, of which libvips would write no letters but those of ASCII.
        case segment(ExifBlock)
        /// EXIF in a JPEG XL, which libvips does not write.
        case box(ExifBlock)
        /// Tags of a TIFF, which libvips does not write.
        case tags(Ownership)
        /// A comment in a GIF.
        case comment(String)

        /// Whether libvips is to write no metadata.
        var isBare: Bool {
            switch self {
            case .bare, .segment: true
            case .complete, .chunk, .box, .tags, .comment: false
            }
        }

        func apply(to encoded: consuming EncodedImage) -> EncodedImage {
            if case .tags(let ownership) = self {
                let file = unsafe encoded.withBytes { unsafe Array($0) }
                guard let tags = TIFFTags(ownership, of: file) else { return encoded }
                return encoded.inserting(tags.directory).replacing(tags.pointer)
            }
            let header = unsafe encoded.withBytes { unsafe Array($0.prefix(Insertion.headerLength)) }
            let insertion: Insertion? =
                switch self {
                case .bare, .complete, .tags: nil
                case .chunk(let block): .chunk(block)
                case .segment(let block): .segment(block, afterHeader: header)
                case .box(let block): .box(block, beforeHeader: header)
                case .comment(let text): .comment(text, afterHeader: header)
                }
            guard let insertion else { return encoded }
            return encoded.inserting(insertion)
        }
    }

    /// Removes what is not to be kept, and says what libvips will not write of the rest.
    private static func describe(
        _ image: borrowing VipsImage, _ settings: EncodeSettings
    ) -> Description {
        switch settings.metadata {
        case .none:
            image.removeDescriptions()
            return .bare
        case .all:
            image.resetOrientationOfXMP()
            let ownership = image.ownership
            let lacking = image.ownership(lostIn: settings.format)
            switch settings.format {
            case .gif where !ownership.isEmpty: return .comment(ownership.line)
            case .tiff where !ownership.isEmpty: return .tags(ownership)
            case .png, .jxl:
                guard let block = image.exif(adding: lacking) else { return .complete }
                return settings.format == .png ? .chunk(block) : .box(block)
            default:
                image.setOwnership(lacking)
                return .complete
            }
        case .copyright:
            let ownership = image.ownership
            image.keepOnly(ownership)
            guard !ownership.isEmpty else { return .bare }
            let block = ExifBlock(artist: ownership.artist, copyright: ownership.copyright)
            switch settings.format {
            case .png: return .chunk(block)
            case .jpeg: return .segment(block)
            case .jxl: return .box(block)
            case .tiff: return .tags(ownership)
            case .gif: return .comment(ownership.line)
            default: return .complete
            }
        }
    }

    private static func save(
        _ image: UnsafeMutablePointer<CVips.VipsImage>, _ bytes: inout UnsafeMutableRawPointer?,
        _ count: inout Int, _ settings: EncodeSettings, _ strip: CInt, reuse: CInt
    ) -> CInt {
        let quality = CInt(clamping: settings.quality)
        let lossless: CInt = settings.isLossless ? 1 : 0
        switch settings.format {
        case .jpeg:
            return unsafe shim_save_jpeg(
                image, &bytes, &count, quality, settings.isProgressive ?? true ? 1 : 0, strip)
        case .png:
            return unsafe shim_save_png(
                image, &bytes, &count, EncodeEffort.png, settings.isProgressive ?? false ? 1 : 0,
                CInt(settings.paletteBits ?? 0), strip)
        case .webp:
            let effort = settings.isQuick ? EncodeEffort.quickWebP : EncodeEffort.webp
            return unsafe shim_save_webp(image, &bytes, &count, quality, lossless, effort, strip)
        case .avif:
            let effort = settings.effort == .fast ? EncodeEffort.fastAVIF : EncodeEffort.fullAVIF
            return unsafe shim_save_avif(image, &bytes, &count, quality, lossless, effort, strip)
        case .gif:
            let effort = unsafe EncodeEffort.gif(
                moves: vips_image_get_page_height(image) < vips_image_get_height(image),
                hasAllColors: settings.paletteBits == nil)
            return unsafe shim_save_gif(
                image, &bytes, &count, effort.work, effort.dither, CInt(settings.paletteBits ?? 8), reuse,
                strip)
        case .tiff:
            return unsafe shim_save_tiff(image, &bytes, &count, strip)
        case .jxl:
            let borne = CInt(clamping: max(settings.quality, EncodeSettings.leastJXLQuality))
            let effort = settings.effort == .fast ? EncodeEffort.fastJXL : EncodeEffort.fullJXL
            return unsafe shim_save_jxl(image, &bytes, &count, borne, lossless, effort, strip)
        case .heic, .svg:
            unsafe shim_complain("the format is read only")
            return -1
        }
    }
}

extension LoadShrink {
    /// What the JPEG decoder is told.
    fileprivate var divisor: CInt {
        guard case .divisor(let divisor) = self else { return 1 }
        return CInt(clamping: divisor)
    }

    /// What decoders with a free scale are told.
    fileprivate var scale: Double {
        guard case .scale(let scale) = self else { return 1 }
        return scale
    }
}
