// SPDX-License-Identifier: Apache-2.0

import Imaging
import Primitives

extension RenderPlan {
    /// Whether a source is within the limits.
    func admits(_ header: ImageHeader) -> Bool {
        limitViolation(of: header) == nil
    }

    /// What of a source is beyond which limit; nil if nothing is.
    func limitViolation(of header: ImageHeader) -> Explanation? {
        let size = header.size
        guard size.width <= limits.side, size.height <= limits.side else {
            return "the source is \(size), limits.side is \(limits.side)"
        }
        guard size.area * header.frames <= limits.sourcePixels else {
            return
                "the source is \(size.pixels(frames: header.frames)), limits.sourcePixels is \(limits.sourcePixels)"
        }
        guard header.embeddedPixels <= limits.sourcePixels else {
            return
                "the drawing holds \(header.embeddedPixels) pixels, limits.sourcePixels is \(limits.sourcePixels)"
        }
        return nil
    }

    /// The size of a frame before the operations, upright: an intermediate's is its original's.
    func uprightSize(of header: ImageHeader) -> PixelSize {
        if let original { return original.size }
        let turn = pipeline.orientation?.value(for: header.orientation) ?? header.orientation
        return turn > 4 ? header.size.transposed : header.size
    }

    /// Whether frames of this size are within the limits of what operations make.
    func permits(_ size: PixelSize, frames: Int) -> Bool {
        max(size.width, size.height) <= limits.side && size.area <= limits.outputPixels / max(1, frames)
    }

    /// The size of a frame after the first operation, if the header determines it: for one that resizes, or
    /// if there is none.
    func firstSize(of header: ImageHeader) -> PixelSize? {
        let turn = pipeline.orientation?.value(for: header.orientation) ?? header.orientation
        let upright = turn > 4 ? header.size.transposed : header.size
        guard let first = pipeline.operations.first else { return upright }
        return (first as? Resize)?.plan(for: upright).scaled
    }

    /// How the result of the first operation is beyond the limits, nil if it is not: no memory is requested for what is
    /// refused anyway.
    func limitViolation(ofFirstSizeOf header: ImageHeader, frames: Int) -> Explanation? {
        guard pipeline.operations.first is Resize, let size = firstSize(of: header) else { return nil }
        let context = TransformContext(maxPixels: limits.outputPixels, maxSide: limits.side, frames: frames)
        do throws(ImagingError) { try context.check(size) } catch {
            if case .tooManyPixels(let why) = error { return why }
        }
        return nil
    }

    /// The plan for a source beyond the limits: it is first shrunk to them, as if it had that size, and to what a result
    /// may have, since so may the picture after each operation.
    ///
    /// Nil for one that may not be shrunk, or that its decoder would have to hold as a whole.
    func shrinking(_ header: ImageHeader) -> RenderPlan? {
        guard scalesDownLarge, header.frames == 1, (frame ?? 0) == 0, format != .information,
            header.format.traits.isStreamed(header),
            header.embeddedPixels <= limits.sourcePixels
        else { return nil }
        let size = header.size.shrunk(
            toPixels: min(limits.sourcePixels, limits.outputPixels), side: limits.side)
        let turn = pipeline.orientation?.value(for: header.orientation) ?? header.orientation
        var plan = self
        plan.scalesDownLarge = false
        plan.frame = nil
        if let resize = pipeline.operations.first as? Resize, !resize.isRelativeToSource,
            let first = firstSize(of: header), first.area <= size.area
        {
            return plan
        }
        let target = turn > 4 ? size.transposed : size
        let rest = pipeline.isEmpty ? "" : ",\(pipeline.transformerKey)"
        // Ignored: what is wrong with a canonical text; nothing can be.
        guard
            let shrunk = try? TransformPipeline(
                parsing: "resize:\(target.width)x\(target.height):fill\(rest)", operationLimit: .max)
        else { return nil }
        plan.pipeline = shrunk
        return plan
    }
}

extension PixelSize {
    /// The same aspect with at most so many pixels and no longer side than `side`.
    fileprivate func shrunk(toPixels pixels: Int, side: Int) -> PixelSize {
        let byArea = (Double(pixels) / Double(area)).squareRoot()
        let factor = min(1, byArea, Double(side) / Double(width), Double(side) / Double(height))
        return PixelSize(
            max(1, Int(Double(width) * factor)), max(1, Int(Double(height) * factor)))
    }
}
