// SPDX-License-Identifier: Apache-2.0

/// What other modules ask of a format.
///
/// A requirement with a default describes most formats; a format states only where it differs, and why.
package protocol FormatTraits {
    static var format: ImageFormat { get }
    /// Its name in sentences.
    static var title: String { get }
    /// The registered media type, as sent in `Content-Type`.
    static var mediaType: String { get }
    /// How names of its files end.
    static var fileExtension: String { get }
    /// Other names of it in requests and settings.
    static var aliases: [String] { get }
    /// Its number in stored files; once assigned, a number never changes its meaning.
    static var storedCode: UInt8 { get }

    /// Whether pixels may be transparent.
    static var supportsAlpha: Bool { get }
    /// Whether several pictures in one file that is read are the frames of an animation.
    static var readsAnimations: Bool { get }
    /// Whether the daemon writes animations.
    static var writesAnimations: Bool { get }
    /// Whether one file may contain pictures of several sizes.
    static var hasPages: Bool { get }
    /// Whether the picture is drawn from text, at any size.
    static var isDrawing: Bool { get }
    /// Whether every current browser displays it.
    static var isShownByBrowsers: Bool { get }

    /// Whether the daemon can write it.
    static var isWritable: Bool { get }
    /// Whether libvips considers one of its coders untrusted: it is then read, and written, only where `formats.decode`
    /// names it.
    static var isWrittenOnlyIfRead: Bool { get }
    /// The longest side that its encoder accepts, in pixels.
    static var maxSide: Int { get }
    /// Whether it can store all 8-bit levels exactly.
    static var canBeLossless: Bool { get }
    /// Whether `lossless=1` has an effect.
    static var mayRequestLossless: Bool { get }
    /// Whether it can be written so that a part of the file shows the whole picture roughly.
    static var canBeProgressive: Bool { get }
    /// Whether its encoder takes much less time with the fast effort.
    static var hasFastEffort: Bool { get }
    /// The quality, 1–100, without one in the request or in the settings; nil for a format that has no quality.
    static var defaultQuality: Int? { get }
    /// How its encoder gives up detail for fewer bytes; also whether a request's `quality` is accepted.
    static var sizeReduction: SizeReduction { get }
    /// The number of pixels from which on the automatic choice does not take it.
    static func automaticPixels(in plan: RenderPlan) -> Int

    /// Whether its decoder has exposed memory that it had not written to, or keeps whole planes in it.
    ///
    /// The others decode from top to bottom, and clearing what they allocate would cost a tenth of a JPEG's time.
    static var leavesMemoryUnwritten: Bool { get }
    /// Whether its decoder works from top to bottom, or shrinks by itself, so that the whole is never in memory.
    static func isStreamed(_ header: ImageHeader) -> Bool

    /// The work of decoding a pixel, relative to a pixel written as JPEG; measured by `bench-work`.
    static func decodingWork(_ header: ImageHeader) -> Double
    /// The work of writing a pixel once, likewise. Of a format that is written, measured, as is `encodingMemory`.
    static func encodingWork(_ settings: EncodeSettings, frames: Int) -> Double
    /// The bytes that the decoder takes as long as the result is made; measured by `bench/memory-table`.
    static func decodingMemory(_ job: DecodingJob) -> Int
    /// The bytes that it takes while it decodes, and that are released before anything is written.
    static func decodingPeak(_ job: DecodingJob) -> Int
    /// The bytes that the encoder takes for a picture of so many pixels, all frames together.
    static func encodingMemory(pixels: Int, frames: Int, hasAlpha: Bool) -> Int
}

extension FormatTraits {
    package static var title: String { format.rawValue.uppercased() }
    package static var fileExtension: String { format.rawValue }
    package static var aliases: [String] { [] }
    package static var supportsAlpha: Bool { true }
    package static var readsAnimations: Bool { false }
    package static var writesAnimations: Bool { false }
    package static var hasPages: Bool { false }
    package static var isDrawing: Bool { false }
    package static var isShownByBrowsers: Bool { false }
    package static var isWritable: Bool { true }
    package static var canBeLossless: Bool { false }
    package static var mayRequestLossless: Bool { canBeLossless }
    package static var canBeProgressive: Bool { false }
    package static var hasFastEffort: Bool { false }
    package static var defaultQuality: Int? { nil }
    package static var sizeReduction: SizeReduction { defaultQuality == nil ? .none : .quality }
    package static func automaticPixels(in plan: RenderPlan) -> Int { .max }
    package static var leavesMemoryUnwritten: Bool { false }
    package static func isStreamed(_ header: ImageHeader) -> Bool { false }
    package static func decodingPeak(_ job: DecodingJob) -> Int { 0 }
}

/// How an encoder gives up detail for fewer bytes.
package enum SizeReduction: Equatable {
    /// By a quality of 1–100.
    case quality
    /// By palettes of fewer and fewer bits.
    case palette([Int])
    /// Not at all.
    case none
}

/// A source that is to be decoded.
package struct DecodingJob {
    let header: ImageHeader
    /// How many frames are decoded.
    let frames: Int
    /// Whether the decoder may shrink.
    let isShrunk: Bool
    /// Whether linear light is resampled, so that the decoder may not shrink.
    let isLinear: Bool
    /// The pixels after the first operation, all frames together.
    let resultPixels: Int

    package init(header: ImageHeader, frames: Int, isShrunk: Bool, isLinear: Bool, resultPixels: Int) {
        self.header = header
        self.frames = frames
        self.isShrunk = isShrunk
        self.isLinear = isLinear
        self.resultPixels = resultPixels
    }

    /// Bytes of a decoded pixel in libvips, alpha included.
    package static let bytesPerPixel = 4
    /// Rows that are in memory at once if a picture is processed from top to bottom, at full width.
    static let rowsInFlight = 1_536

    /// The pixels of all decoded frames.
    var pixels: Int { header.size.area * frames }

    /// The bytes of so many rows of a frame.
    func rows(_ count: Int) -> Int {
        min(header.size.area, header.size.width * count) * Self.bytesPerPixel
    }

    /// The bytes of frames that the daemon composes: the completed ones, a canvas, the one before it, and a frame twice.
    var composedFrames: Int { (pixels + header.size.area * 4) * Self.bytesPerPixel }
}
