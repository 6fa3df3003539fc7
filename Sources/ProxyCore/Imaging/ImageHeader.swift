// SPDX-License-Identifier: Apache-2.0

/// What a source's header tells, before any pixel is decoded.
struct ImageHeader: Sendable, Equatable {
    /// From the magic bytes.
    let format: ImageFormat
    /// The size of one frame as stored, before orientation.
    let size: PixelSize
    /// The number of frames or pages.
    let frames: Int
    /// Whether there is an alpha band.
    let hasAlpha: Bool
    /// EXIF orientation, 1–8.
    let orientation: Int
    /// Whether rows come in several passes, or are one stream without loss (WebP), so that the decoder must hold them all.
    var isInterlaced = false
    /// Pixels of the pictures that a drawing holds; 0 for all else.
    var embeddedPixels = 0

    /// Whether its frames are shown one after the other, and are not pages.
    var isAnimation: Bool { frames > 1 && (format.row.supportsAnimation || format == .png) }

    /// The size of one frame, turned upright.
    var upright: PixelSize { orientation > 4 ? size.transposed : size }
}

/// Which frames or pages of a source to decode.
enum FrameSelection: Sendable, Equatable {
    /// The picture that shows first: the first frame, or the primary one of a HEIF file.
    case primary
    /// The one with this index.
    case single(Int)
    /// All of them.
    case all
}

/// How much smaller a decoder can make the picture on its own.
enum LoadShrink: Sendable, Equatable {
    /// Not at all.
    case none
    /// A JPEG decoder, by leaving out frequencies: 2, 4 or 8.
    case divisor(Int)
    /// A WebP decoder or an SVG renderer, to any scale.
    case scale(Double)

    /// Sources of fewer pixels are left twice what is needed: they are decoded in no time, and resampling from more shows
    /// less of the decoder's own way of shrinking.
    static let smallSource = 1_000_000

    /// Returns the strongest shrinking that still leaves `needed` pixels each way, or twice as many of a small source.
    ///
    /// The rest is resampled: for JPEG this is a quarter cheaper than stopping one step earlier.
    static func strongest(for header: ImageHeader, needed: PixelSize) -> LoadShrink {
        let whole = min(
            Double(header.size.width) / Double(needed.width),
            Double(header.size.height) / Double(needed.height))
        let factor = header.size.area < smallSource && header.format != .svg ? whole / 2 : whole
        switch header.format {
        case .jpeg:
            return [8, 4, 2].first { Double($0) <= factor }.map(LoadShrink.divisor) ?? .none
        case .webp:
            // libwebp weighs brightness by alpha, and colours not: what is transparent would show at edges.
            guard factor > 1, !header.hasAlpha || header.isInterlaced else { return .none }
            return .scale(1 / factor)
        case .svg:
            return factor != 1 ? .scale(1 / factor) : .none
        case .png, .gif, .avif, .heic, .tiff, .jxl:
            return .none
        }
    }
}
