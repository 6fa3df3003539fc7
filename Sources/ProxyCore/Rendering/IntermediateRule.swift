// SPDX-License-Identifier: Apache-2.0

package import Imaging

/// Which originals get an intermediate, and what may be made from it without a visible difference.
package struct IntermediateRule: Sendable {
    package let configuration: IntermediateConfiguration

    package init(configuration: IntermediateConfiguration) {
        self.configuration = configuration
    }

    /// The facts about an original that the rule needs.
    package typealias Original = Rendition.SourceFacts

    /// How much smaller than the intermediate a result must be each way: the encoder's loss is then averaged
    /// away.
    private static let reserve = 2

    /// How many times more pixels an original must have than its intermediate.
    private static let leastGain = 2

    /// The size of an original's intermediate; nil if there is to be none.
    package func size(for original: Original) -> PixelSize? {
        let upright = original.upright
        guard configuration.enabled, original.frames == 1, !original.format.traits.isDrawing,
            upright.area >= configuration.minPixels
        else { return nil }
        let longest = max(upright.width, upright.height)
        let scaled = upright.scaled(by: min(1, Double(configuration.side) / Double(longest)))
        let intermediate = PixelSize(
            Self.inBlocks(scaled.width, atMost: upright.width),
            Self.inBlocks(scaled.height, atMost: upright.height))
        return upright.area >= intermediate.area * Self.leastGain ? intermediate : nil
    }

    /// The nearest side of whole blocks: a JPEG decoder that shrinks them shifts nothing by part of a pixel.
    private static func inBlocks(_ side: Int, atMost whole: Int) -> Int {
        min(whole, max(1, (side + blockSide / 2) / blockSide) * blockSide)
    }

    private static let blockSide = 8

    /// Whether the plan alone permits an intermediate.
    package func admits(_ plan: RenderPlan) -> Bool {
        configuration.enabled && !plan.isLossless && plan.metadata != .keep && plan.frame == nil
            && plan.frameCount == nil && !plan.scalesDownLarge && !plan.isLinear
            && plan.pipeline.orientation == nil && plan.pipeline.operations.first is Resize
            && plan.pipeline.operations.allSatisfy {
                type(of: $0).toleratesIntermediate && !$0.searchesContent
            }
    }

    /// Whether the result of a permitted plan may be made from this original's intermediate.
    package func serves(_ plan: RenderPlan, of original: Original) -> Bool {
        guard let intermediate = size(for: original), let resize = plan.pipeline.operations.first as? Resize,
            isLossy(plan, original)
        else { return false }
        let scaled = resize.plan(for: original.upright).scaled
        return scaled.width * Self.reserve <= intermediate.width
            && scaled.height * Self.reserve <= intermediate.height
    }

    /// Whether the result is lossy anyway, in whichever format it is written: operations may add alpha.
    private func isLossy(_ plan: RenderPlan, _ original: Original) -> Bool {
        let decision = FormatDecision(plan: plan, header: original.header)
        return [original.hasAlpha, true].allSatisfy { hasAlpha in
            guard hasAlpha == original.hasAlpha || plan.pipeline.operations.contains(where: \.mayAddAlpha)
            else { return true }
            let result = FormatDecision.Result(
                size: original.upright, hasAlpha: hasAlpha, isAnimated: false)
            // Ignored: that the format can't hold it; the direct way will report it.
            guard let format = try? decision.format(for: result) else { return false }
            return format.traits.sizeReduction == .quality
        }
    }
}

extension Rendition.SourceFacts {
    /// The size of one frame, turned upright.
    package var upright: PixelSize {
        let size = PixelSize(width, height)
        return orientation > 4 ? size.transposed : size
    }

    /// The header that an upright picture like this one would have.
    package var header: ImageHeader {
        ImageHeader(format: format, size: upright, frames: frames, hasAlpha: hasAlpha, orientation: 1)
    }
}

extension RenderPlan {
    /// The header of an intermediate's original, upright; nil if the source is the original.
    var original: ImageHeader? {
        guard case .read(let original) = intermediate else { return nil }
        return original.header
    }

    /// The formats that the source may have; an intermediate is the daemon's own, whatever may be decoded of others.
    var readableFormats: [ImageFormat] {
        original == nil ? decodableFormats : Rendition.Intermediate.formats
    }
}

extension ImageHeader {
    /// The facts about a rendition's source.
    var facts: Rendition.SourceFacts {
        .init(
            format: format, width: size.width, height: size.height, frames: frames, hasAlpha: hasAlpha,
            orientation: orientation)
    }
}
