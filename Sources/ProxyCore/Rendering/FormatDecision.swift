// SPDX-License-Identifier: Apache-2.0

import Imaging
import Primitives

/// Which frames to decode and which format to write, from the plan and the picture's header.
struct FormatDecision {
    let plan: RenderPlan
    let header: ImageHeader

    /// The picture after the operations.
    struct Result {
        let size: PixelSize
        let hasAlpha: Bool
        let isAnimated: Bool
    }

    /// Decides before decoding which frames are needed.
    func frames() throws(RenderError) -> FrameSelection {
        if let index = plan.frame {
            guard index < header.frames else {
                throw .frameOutOfRange(
                    header.frames == 1
                        ? "the image has only one frame, number 0"
                        : "the image has \(header.frames) frames or pages, counted from 0")
            }
            if plan.frameCount == nil { return .single(index) }
        }
        if let count = plan.frameCount, header.isAnimation {
            let first = plan.frame ?? 0
            return try frames(count == .max ? header.frames - first : count, from: first)
        }
        if let index = plan.frame { return .single(index) }
        return plan.animation != .first && header.isAnimation && canWriteAnimation ? .all : .primary
    }

    private func frames(_ count: Int, from first: Int) throws(RenderError) -> FrameSelection {
        guard first + count <= header.frames else {
            throw .frameOutOfRange("the image has \(header.frames) frames, not \(count) from \(first) on")
        }
        guard count > 1, canWriteAnimation else { return plan.frame.map(FrameSelection.single) ?? .primary }
        return count == header.frames ? .all : .range(first..<first + count)
    }

    private var canWriteAnimation: Bool {
        switch plan.format {
        case .explicit(let format): format.traits.writesAnimations || stacksFrames
        case .automatic: true
        case .source: header.format.traits.writesAnimations
        case .information: false
        }
    }

    /// Whether the frames become a still, one below the other.
    var stacksFrames: Bool {
        guard plan.animation == .strip, case .explicit(let format) = plan.format else { return false }
        return !format.traits.writesAnimations
    }

    /// Decides the format when the result's size, alpha and frames are known.
    func format(for result: Result) throws(RenderError) -> ImageFormat {
        let usual = try usualFormat(for: result)
        guard plan.takesCheapest, case .automatic(let accepted) = plan.format else { return usual }
        let work = WorkEstimate(header: header, frames: result.isAnimated ? header.frames : 1, plan: plan)
        var possible = accepted.filter { canHold(result, $0) && isWritable($0) }
        // Ignored: that no format which needs no `Accept` can hold it; the usual one does.
        if let other = try? formatWithoutAccept(for: result) { possible.append(other) }
        return possible.min { work.cost(of: $0) < work.cost(of: $1) } ?? usual
    }

    /// Decides it without regard to waiting jobs.
    func usualFormat(for result: Result) throws(RenderError) -> ImageFormat {
        switch plan.format {
        case .explicit(let format):
            guard isWritable(format) else { throw .unsupportedFormat(format.rawValue) }
            guard fits(result, format) else { throw tooLarge(result, format) }
            return format
        case .source, .information:
            return isWritable(header.format) && fits(result, header.format) && losesNothing(header.format)
                && (!plan.keepsAlpha || holdsAlpha(of: result, header.format))
                ? header.format : try fallback(for: result)
        case .automatic(let preferred):
            if let chosen = preferred.first(where: { canHold(result, $0) && isWritable($0) }) {
                return chosen
            }
            return try formatWithoutAccept(for: result)
        }
    }

    /// The format for a client that accepts none explicitly.
    private func formatWithoutAccept(for result: Result) throws(RenderError) -> ImageFormat {
        let isGoodAsItIs =
            header.format.traits.isShownByBrowsers
            && (!result.isAnimated || header.format.traits.writesAnimations)
            && holdsAlpha(of: result, header.format)
            && fits(result, header.format) && losesNothing(header.format)
        return isGoodAsItIs ? header.format : try fallback(for: result)
    }

    private func canHold(_ result: Result, _ format: ImageFormat) -> Bool {
        guard holdsAlpha(of: result, format), fits(result, format), losesNothing(format) else { return false }
        guard !result.isAnimated || format.traits.writesAnimations else { return false }
        return result.size.area < format.traits.automaticPixels(in: plan)
    }

    /// Whether the format keeps every level where nothing may be lost.
    private func losesNothing(_ format: ImageFormat) -> Bool {
        !plan.isLossless || format.traits.canBeLossless
    }

    private func holdsAlpha(of result: Result, _ format: ImageFormat) -> Bool {
        !result.hasAlpha || format.traits.supportsAlpha
    }

    private func isWritable(_ format: ImageFormat) -> Bool {
        format.isWritable(decoding: plan.decodableFormats)
    }

    private func tooLarge(_ result: Result, _ format: ImageFormat) -> RenderError {
        .resultTooLarge(
            "the result would be \(result.size), \(format.rawValue) has sides up to \(format.traits.maxSide)")
    }

    private func fits(_ result: Result, _ format: ImageFormat) -> Bool {
        max(result.size.width, result.size.height) <= format.traits.maxSide
    }

    private func fallback(for result: Result) throws(RenderError) -> ImageFormat {
        let animations: [ImageFormat] = result.isAnimated ? [.gif, .webp] : []
        if let format = animations.first(where: { fits(result, $0) && losesNothing($0) }) { return format }
        let needsPNG = result.hasAlpha || plan.isLossless || !fits(result, .jpeg)
        let format: ImageFormat = needsPNG ? .png : .jpeg
        guard fits(result, format) else { throw tooLarge(result, format) }
        return format
    }
}

extension RenderPlan {
    /// The largest result that is inspected for few colours and flat runs, in pixels.
    private static let mostDrawingPixels = 2_000_000

    /// Whether a result of this size is inspected for few colours and flat runs, so that lossless WebP is
    /// tried, too: if the format is chosen automatically and the client accepts WebP.
    func mayTryLossless(_ size: PixelSize, frames: Int) -> Bool {
        guard case .automatic(let accepted) = format else { return false }
        return accepted.contains(.webp) && !isLossless && maxBytes == nil && frames == 1
            && size.area <= Self.mostDrawingPixels
            && max(size.width, size.height) <= ImageFormat.webp.traits.maxSide
    }
}
