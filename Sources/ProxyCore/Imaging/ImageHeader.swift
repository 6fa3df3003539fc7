// SPDX-License-Identifier: Apache-2.0

/// The properties in a source's header, read before any pixel is decoded.
package struct ImageHeader: Sendable, Equatable {
    /// The format by the magic bytes.
    package let format: ImageFormat
    /// The size of one frame as stored, before orientation.
    package let size: PixelSize
    /// The number of frames or pages.
    package let frames: Int
    /// Whether there is an alpha band.
    package let hasAlpha: Bool
    /// EXIF orientation, 1–8.
    package let orientation: Int
    /// Whether rows are stored in several passes, or as one lossless stream (WebP), so that the decoder must
    /// hold all of them.
    package var isInterlaced = false
    /// The number of pixels of the pictures embedded in a drawing; 0 for other formats.
    package var embeddedPixels = 0

    /// Creates a value from its parts.
    package init(
        format: ImageFormat, size: PixelSize, frames: Int, hasAlpha: Bool, orientation: Int,
        isInterlaced: Bool = false, embeddedPixels: Int = 0
    ) {
        self.format = format
        self.size = size
        self.frames = frames
        self.hasAlpha = hasAlpha
        self.orientation = orientation
        self.isInterlaced = isInterlaced
        self.embeddedPixels = embeddedPixels
    }

    /// Whether its frames are an animation, not pages.
    package var isAnimation: Bool { frames > 1 && (format.row.supportsAnimation || format == .png) }

    /// The size of one frame after orientation.
    package var upright: PixelSize { orientation > 4 ? size.transposed : size }
}

/// The frames or pages of a source to decode.
package enum FrameSelection: Sendable, Equatable {
    /// The default picture: the first frame, or the primary item of a HEIF file.
    case primary
    /// The one with this index.
    case single(Int)
    /// These of an animation, at least two.
    case range(Range<Int>)
    /// All of them.
    case all

    /// How many there are of a source with `all`.
    package func count(of all: Int) -> Int {
        switch self {
        case .primary, .single: 1
        case .range(let range): range.count
        case .all: all
        }
    }
}

/// How far a decoder itself can shrink the picture.
package enum LoadShrink: Sendable, Equatable {
    /// Not at all.
    case none
    /// A JPEG decoder omits frequencies: 2, 4 or 8.
    case divisor(Int)
    /// A WebP decoder or an SVG renderer scales to any size.
    case scale(Double)

    /// Sources with fewer pixels are decoded at twice the needed size: decoding them is cheap, and resampling
    /// from more pixels hides the decoder's own scaling.
    package static let smallSource = 1_000_000

    /// What is left to resample behind a JPEG's decoder must be nothing, or at least this factor: resampling by less
    /// takes from fine detail what a decoder's own shrinking has left of it.
    private static let leastResampling = 1.25

    private static func keepsDetail(
        _ rest: Double, _ divisor: Int, _ size: PixelSize, _ needed: PixelSize
    ) -> Bool {
        let isExact =
            (size.width + divisor - 1) / divisor == needed.width
            && (size.height + divisor - 1) / divisor == needed.height
        return isExact || rest >= leastResampling
    }

    /// Returns the strongest shrinking that still leaves the `needed` pixels on each side, or twice as many
    /// of a small source.
    ///
    /// The rest is resampled: for JPEG this is a quarter cheaper than stopping one step earlier.
    static func strongest(for header: ImageHeader, needed: PixelSize) -> LoadShrink {
        let whole = min(
            Double(header.size.width) / Double(needed.width),
            Double(header.size.height) / Double(needed.height))
        let factor = header.size.area < smallSource && header.format != .svg ? whole / 2 : whole
        switch header.format {
        case .jpeg:
            let divisor = [8, 4, 2].first { divisor in
                Double(divisor) <= factor
                    && keepsDetail(whole / Double(divisor), divisor, header.size, needed)
            }
            return divisor.map(LoadShrink.divisor) ?? .none
        case .webp:
            // libwebp weights brightness by alpha, but not colours: transparent pixels would show at edges.
            guard factor > 1, !header.hasAlpha || header.isInterlaced else { return .none }
            return .scale(1 / factor)
        case .svg:
            return factor != 1 ? .scale(1 / factor) : .none
        case .png, .gif, .avif, .heic, .tiff, .jxl:
            return .none
        }
    }
}
