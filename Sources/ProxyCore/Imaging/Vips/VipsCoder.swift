// SPDX-License-Identifier: Apache-2.0

import CVips

/// Reads and writes pictures by libvips, each format by its own coder, chosen by us and never by a name.
enum VipsCoder {
    /// Reads a source's header; no pixel is decoded.
    static func header(
        of source: borrowing VipsSource, as format: ImageFormat
    ) throws(ImagingError) -> ImageHeader {
        try VipsLibrary.start()
        VipsLibrary.unblock(format)
        let image = try open(source, as: format, frames: .primary, shrink: .none)
        return ImageHeader(
            format: format, size: image.size, frames: image.pagesInSource, hasAlpha: image.hasAlpha,
            orientation: image.orientation)
    }

    /// Opens a source for decoding from top to bottom; a truncated or damaged one fails when its pixels are read.
    static func open(
        _ source: borrowing VipsSource, as format: ImageFormat, frames: FrameSelection, shrink: LoadShrink
    ) throws(ImagingError) -> VipsImage {
        let (page, count) = pages(frames)
        let made = unsafe loader(source.raw, format, page, count, shrink)
        return try unsafe VipsImage(adopting: made, isSequential: true)
    }

    /// libvips' first page and number of pages; -1 pages means all, a page of -1 the primary one.
    private static func pages(_ frames: FrameSelection) -> (page: CInt, count: CInt) {
        switch frames {
        case .primary: (-1, 1)
        case .single(let index): (CInt(clamping: index), 1)
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
    static func encode(
        _ image: borrowing VipsImage, _ settings: EncodeSettings
    ) throws(ImagingError) -> EncodedImage {
        let prepared =
            try settings.format.row.supportsAlpha ? image.duplicate() : image.flattened(onto: .white)
        let output = try prepared.duplicate()
        let strips = strip(output, settings.metadata)
        var bytes: UnsafeMutableRawPointer?
        var count = 0
        let code = unsafe save(output.raw, &bytes, &count, settings, strips ? 1 : 0)
        guard code == 0, let bytes = unsafe bytes else { throw VipsLibrary.failure() }
        let encoded = unsafe EncodedImage(adopting: bytes, count: count)
        if settings.format == .avif {
            let size = output.size
            let isReadable = unsafe shim_is_readable(bytes, count, CInt(size.width), CInt(size.height))
            guard isReadable == 1 else { throw .outOfMemory("the AVIF that was written holds no picture") }
        }
        return encoded
    }

    /// Whether all pixels of a source can be read: what failed on the way to a result was then not the source's fault.
    static func isSound(
        _ source: borrowing VipsSource, as format: ImageFormat, frames: FrameSelection
    ) -> Bool {
        do throws(ImagingError) {
            let image = try open(source, as: format, frames: frames, shrink: .none)
            return unsafe shim_read_all(image.raw) == 0
        } catch {
            return false
        }
    }

    /// Removes what is not to be kept; returns whether the saver should write no metadata at all.
    private static func strip(_ image: borrowing VipsImage, _ metadata: EncodeSettings.Metadata) -> Bool {
        switch metadata {
        case .all: false
        case .none: !image.keepNothing()
        case .copyright: !image.keepOnlyCopyright()
        }
    }

    private static func save(
        _ image: UnsafeMutablePointer<CVips.VipsImage>, _ bytes: inout UnsafeMutableRawPointer?,
        _ count: inout Int, _ settings: EncodeSettings, _ strip: CInt
    ) -> CInt {
        let quality = CInt(clamping: settings.quality)
        let lossless: CInt = settings.isLossless ? 1 : 0
        switch settings.format {
        case .jpeg:
            return unsafe shim_save_jpeg(
                image, &bytes, &count, quality, settings.isProgressive ?? true ? 1 : 0, strip)
        case .png:
            return unsafe shim_save_png(
                image, &bytes, &count, EncodeEffort.png, settings.isProgressive ?? false ? 1 : 0, strip)
        case .webp:
            return unsafe shim_save_webp(image, &bytes, &count, quality, lossless, EncodeEffort.webp, strip)
        case .avif:
            return unsafe shim_save_avif(image, &bytes, &count, quality, lossless, EncodeEffort.avif, strip)
        case .gif:
            return unsafe shim_save_gif(image, &bytes, &count, EncodeEffort.gif, strip)
        case .tiff:
            return unsafe shim_save_tiff(image, &bytes, &count, strip)
        case .jxl:
            return unsafe shim_save_jxl(image, &bytes, &count, quality, lossless, EncodeEffort.jxl, strip)
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
