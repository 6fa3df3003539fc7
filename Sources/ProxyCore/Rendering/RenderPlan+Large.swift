// SPDX-License-Identifier: Apache-2.0

extension RenderPlan {
    /// Whether a source is within the limits.
    func admits(_ header: ImageHeader) -> Bool {
        header.size.width <= limits.side && header.size.height <= limits.side
            && header.size.area * header.frames <= limits.sourcePixels
            && header.embeddedPixels <= limits.sourcePixels
    }

    /// The size of a frame after the first operation, if the header determines it: for one that resizes, or
    /// if there is none.
    func firstSize(of header: ImageHeader) -> PixelSize? {
        let turn = pipeline.orientation?.value(for: header.orientation) ?? header.orientation
        let upright = turn > 4 ? header.size.transposed : header.size
        guard let first = pipeline.operations.first else { return upright }
        return (first as? Resize)?.plan(for: upright).scaled
    }

    /// Whether the result of the first operation is within the limits: no memory is requested for what is
    /// refused anyway.
    func bears(_ header: ImageHeader, frames: Int) -> Bool {
        guard pipeline.operations.first is Resize, let size = firstSize(of: header) else { return true }
        return size.width <= limits.side && size.height <= limits.side
            && size.area * frames <= limits.outputPixels
    }

    /// The plan for a source beyond the limits: it is first shrunk to them, as if it had that size.
    ///
    /// Nil for one that may not be shrunk, or that its decoder would have to hold as a whole.
    func shrinking(_ header: ImageHeader) -> RenderPlan? {
        guard scalesDownLarge, header.frames == 1, (frame ?? 0) == 0, format != .information,
            header.isStreamed,
            header.embeddedPixels <= limits.sourcePixels
        else { return nil }
        let size = header.size.shrunk(toPixels: limits.sourcePixels, side: limits.side)
        let turn = pipeline.orientation?.value(for: header.orientation) ?? header.orientation
        var plan = self
        plan.scalesDownLarge = false
        plan.frame = nil
        if pipeline.operations.first is Resize, let first = firstSize(of: header), first.area <= size.area {
            return plan
        }
        let target = turn > 4 ? size.transposed : size
        let rest = pipeline.isEmpty ? "" : ",\(pipeline.transformerKey)"
        // Lost: what is wrong with a canonical text; nothing can be.
        guard
            let shrunk = try? TransformPipeline(
                parsing: "resize:\(target.width)x\(target.height):fill\(rest)", operationLimit: .max)
        else { return nil }
        plan.pipeline = shrunk
        return plan
    }
}

extension ImageHeader {
    /// Whether its decoder works from top to bottom, or shrinks by itself, so that the whole is never in
    /// memory.
    fileprivate var isStreamed: Bool {
        switch format {
        case .jpeg, .svg: true
        case .webp: isInterlaced || !hasAlpha
        case .png, .tiff: !isInterlaced
        case .gif, .avif, .heic, .jxl: false
        }
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
