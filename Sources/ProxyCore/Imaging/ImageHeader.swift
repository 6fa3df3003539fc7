// SPDX-License-Identifier: Apache-2.0

/// The properties in a source's header, read before any pixel is decoded.
package struct ImageHeader: Sendable, Equatable {
    /// The format by the magic bytes.
    package let format: ImageFormat
    /// The size of one frame as stored, before orientation.
    package internal(set) var size: PixelSize
    /// The number of frames or pages.
    package internal(set) var frames: Int
    /// Whether there is an alpha band.
    package internal(set) var hasAlpha: Bool
    /// EXIF orientation, 1–8.
    package internal(set) var orientation: Int
    /// Whether rows are stored in several passes, or as one lossless stream (WebP), so that the decoder must
    /// hold all of them.
    var mustBeHeldWhole = false
    /// Whether its one picture is composed by the daemon, as the frames of an animation are.
    var isComposed = false
    /// Whether the decoder cuts a drawing where it should scale it.
    var hasFixedScale = false
    /// The number of pixels of the pictures embedded in a drawing; 0 for other formats.
    package var embeddedPixels = 0

    package init(
        format: ImageFormat, size: PixelSize, frames: Int, hasAlpha: Bool, orientation: Int,
        mustBeHeldWhole: Bool = false, embeddedPixels: Int = 0
    ) {
        self.format = format
        self.size = size
        self.frames = frames
        self.hasAlpha = hasAlpha
        self.orientation = orientation
        self.mustBeHeldWhole = mustBeHeldWhole
        self.embeddedPixels = embeddedPixels
    }

    /// Whether its frames are an animation, not pages.
    package var isAnimation: Bool { frames > 1 && format.traits.readsAnimations }

    /// The size of one frame after orientation.
    package var upright: PixelSize { orientation > 4 ? size.transposed : size }

    /// How many times as long as needed the sides are, on the side where they are so the least.
    func surplus(over needed: PixelSize) -> Double {
        min(Double(size.width) / Double(needed.width), Double(size.height) / Double(needed.height))
    }

    /// The same for a decoder that shrinks; half as much for a small source.
    func decodedSurplus(over needed: PixelSize) -> Double {
        surplus(over: needed) / (size.area < LoadShrink.smallSource ? 2 : 1)
    }
}

/// The frames or pages of a source to decode.
package enum FrameSelection: Sendable, Equatable {
    /// The default picture: the first frame, or the primary item of a HEIF file.
    case primary
    /// The one with this index.
    case single(Int)
    /// These of an animation, at least two.
    case range(Range<Int>)
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
    static let smallSource = 1_000_000
}
