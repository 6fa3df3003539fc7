// SPDX-License-Identifier: Apache-2.0

/// Everything besides the source's bytes that decides the bytes of a rendition: typed, canonical, and sent to
/// a worker unchanged.
package struct RenderPlan: Sendable, Hashable, Codable {
    /// How much work to put into formats with a fast effort. No part of any key.
    package var effort: EncodingEffort = .fast
    /// Whether the automatic choice takes the format with the least work, because many jobs wait. No part of
    /// any key.
    package var takesCheapest = false
    /// The operations, with `dpr` already applied.
    package var pipeline: TransformPipeline
    /// Which format to write.
    package var format: FormatChoice
    /// Whether a result with transparency that the source's own format can't hold becomes PNG.
    package var keepsAlpha = false
    /// Formats of sources that are sent as they are, unless the plan names a format.
    package var skipped: [ImageFormat] = []
    /// Encoder quality 1–100; nil takes the format's default from `qualities`.
    package var quality: Int?
    /// Whether to write losslessly if the format can.
    package var isLossless = false
    /// Whether to write progressive or interlaced; nil takes the format's default (JPEG: yes).
    package var isProgressive: Bool?
    /// The one frame or page to use; nil means as `animation` says.
    package var frame: Int?
    /// How many frames of an animation to use, from `frame` on or the first, `Int.max` for all of these; nil means as
    /// `frame` and `animation` say.
    package var frameCount: Int?
    /// Which frames of an animation to keep.
    package var animation: AnimationPolicy = .all
    /// What to keep of the source's metadata.
    package var metadata: MetadataPolicy = .strip
    /// Most bytes of the result; nil means any number.
    package var maxBytes: Int?
    /// The images that the pipeline draws over the picture, each once.
    package var watermarks: [WatermarkImage] = []
    /// Whether a source with too many pixels is shrunk while it is decoded, if its decoder can do that.
    package var scalesDownLarge = false
    /// Whether `resize` averages linear light (IEC 61966-2-1 undone), and not encoded levels.
    package var isLinear = false
    /// Whether the source is an intermediate, or one is written beside the result.
    package var intermediate: IntermediateUse = .none
    /// Bounds checked before pixels are decoded.
    package var limits = RenderLimits()
    /// The maximum work, in weighted megapixels (see `WorkEstimate`); nil means any. No part of any key.
    package var workLimit: Int?
    /// Formats of sources that may be decoded, and those that are written only if they may be decoded.
    package var decodableFormats: [ImageFormat] = FormatsConfiguration().decode
    /// Default qualities, by format.
    package var qualities: [ImageFormat: Int] = QualityConfiguration().byFormat
    /// AVIF is chosen automatically only below this number of output pixels.
    package var avifMaxPixels: Int = FormatsConfiguration().avifMaxPixels

    /// Which format to write.
    package enum FormatChoice: Sendable, Hashable, Codable {
        /// The first of these that can hold the result, else the source's own format if browsers show it, else JPEG,
        /// or PNG with alpha. In the order of the client's preference.
        case automatic([ImageFormat])
        case explicit(ImageFormat)
        /// The source's own; what cannot be written becomes JPEG, or PNG with alpha.
        case source
        /// No picture: facts about the source, as JSON.
        case information
    }

    /// Which frames of an animation to keep.
    package enum AnimationPolicy: String, Sendable, Hashable, Codable {
        /// Every frame.
        case all
        /// The first frame only.
        case first
        /// Every frame, one below the other in a format without animations that is requested.
        case strip
    }

    /// What to keep of the source's metadata.
    package enum MetadataPolicy: String, Sendable, Hashable, Codable {
        /// Drops all but copyright and a profile that sRGB viewers display correctly.
        case strip
        /// Keeps everything; orientation is reset because it has been applied.
        case keep
        /// Drops everything.
        case none
    }

    /// What a job does with an intermediate.
    package enum IntermediateUse: Sendable, Hashable, Codable {
        /// Nothing.
        case none
        /// The source is one, made from this original.
        case read(Rendition.SourceFacts)
        /// One of this size is written, and the result is made from it.
        case write(width: Int, height: Int, quality: Int)
    }

    /// A plan with defaults: no operation, automatic format without a preference.
    package init(pipeline: TransformPipeline = TransformPipeline(), format: FormatChoice = .automatic([])) {
        self.pipeline = pipeline
        self.format = format
    }

    /// How to write a result in a format.
    package func settings(for format: ImageFormat) -> EncodeSettings {
        var settings = EncodeSettings(
            format: format, quality: quality ?? qualities[format] ?? Self.noQuality,
            isLossless: isLossless, isProgressive: isProgressive, metadata: metadata, effort: effort)
        if case .read = intermediate { settings.isQuickWebP = maxBytes == nil }
        return settings
    }

    /// Of formats that have none, and read none.
    private static let noQuality = 100
}
