// SPDX-License-Identifier: Apache-2.0

extension RenderPlan {
    /// Whether a source is within the limits.
    func admits(_ header: ImageHeader) -> Bool {
        header.size.width <= limits.side && header.size.height <= limits.side
            && header.size.area * header.frames <= limits.sourcePixels
    }

    /// The plan for a source beyond the limits: it is first shrunk to what they admit, as if it had come like that.
    ///
    /// Nil for one that may not be, or that its decoder would have to hold as a whole.
    func shrinking(_ header: ImageHeader) -> RenderPlan? {
        guard scalesDownLarge, header.frames == 1, frame == nil, format != .information, header.isStreamed
        else { return nil }
        let size = header.size.shrunk(toPixels: limits.sourcePixels, side: limits.side)
        let turn = pipeline.orientation?.value(for: header.orientation) ?? header.orientation
        var plan = self
        plan.scalesDownLarge = false
        plan.limits.sourcePixels = .max
        plan.limits.side = .max
        let upright = turn > 4 ? header.size.transposed : header.size
        if let resize = pipeline.operations.first as? Resize,
            resize.plan(for: upright).scaled.area <= size.area
        {
            return plan
        }
        let target = turn > 4 ? size.transposed : size
        let rest = pipeline.isEmpty ? "" : ",\(pipeline.transformerKey)"
        // Lost: what is wrong with a canonical text; there is no such thing.
        guard
            let shrunk = try? TransformPipeline(
                parsing: "resize:\(target.width)x\(target.height):fill\(rest)", operationLimit: .max)
        else { return nil }
        plan.pipeline = shrunk
        return plan
    }
}

extension ImageHeader {
    /// Whether its decoder goes from top to bottom, or shrinks on its own, so that the whole is never in memory.
    fileprivate var isStreamed: Bool {
        switch format {
        case .jpeg, .svg, .webp: true
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
