// SPDX-License-Identifier: Apache-2.0

extension TransformPipeline {
    /// Decodes `source` and applies the pipeline; the encoder will compute the image's pixels.
    ///
    /// Orientation is applied first, then conversion to sRGB of 8 bits, then the operations, on each frame
    /// alike. For a pipeline that begins with `resize` on a still, the decoder shrinks.
    ///
    /// - Parameter original: the upright header of the original, if `source` is a smaller intermediate of it.
    package func image(
        from source: borrowing VipsSource, header: ImageHeader, frames: FrameSelection,
        standingFor original: ImageHeader? = nil, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        let turn = orientation?.value(for: header.orientation) ?? header.orientation
        context.source = original?.size ?? (turn > 4 ? header.size.transposed : header.size)
        guard frames.count(of: header.frames) > 1 else {
            return try still(from: source, header, frames, turn, original, &context)
        }
        return try animation(from: source, header, frames, turn, &context)
    }

    // MARK: - Stills

    private func still(
        from source: borrowing VipsSource, _ header: ImageHeader, _ frames: FrameSelection, _ turn: Int,
        _ original: ImageHeader?, _ context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        // Pages of one file may differ in size, so only the picture whose header was read is shrunk. Decoders
        // shrink encoded levels, not linear light; a drawing is rendered at its size.
        let mayShrink = frames == .primary && (!context.isLinear || header.format.traits.isDrawing)
        guard mayShrink, let resize = operations.first as? Resize else {
            let image = try VipsCoder.open(source, as: header.format, frames: frames, shrink: .none)
            return try stillApplied(from: 0, to: upright(image.inEightBits(), turn), in: &context)
        }
        return try shrunk(from: source, header, turn, resize, original, &context)
    }

    /// Shrinks before all other steps, in the stored orientation and colours, where the decoder can help.
    private func shrunk(
        from source: borrowing VipsSource, _ header: ImageHeader, _ turn: Int, _ resize: Resize,
        _ original: ImageHeader?, _ context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        let plan = resize.plan(for: original?.size ?? (turn > 4 ? header.size.transposed : header.size))
        try context.check(plan.scaled)
        let small = try resampled(source, header, turn, to: plan.scaled)
        // WebP drops an alpha channel that is opaque everywhere.
        let lacksAlpha = original?.hasAlpha == true && !small.hasAlpha
        let cut = try resize.cut(lacksAlpha ? small.withAlpha() : small.duplicate(), plan, in: &context)
        return try stillApplied(from: 1, to: cut, in: &context)
    }

    /// Resamples a still to this size after orientation.
    private func resampled(
        _ source: borrowing VipsSource, _ header: ImageHeader, _ turn: Int, to size: PixelSize
    ) throws(ImagingError) -> VipsImage {
        let target = turn > 4 ? size.transposed : size
        let shrink = header.format.coder.shrink(header, needed: target)
        let isGrown: Bool
        var part = (width: Double(header.size.width), height: Double(header.size.height))
        if case .divisor(let divisor) = shrink {
            isGrown = source.growToMultiple(of: divisor)
            part = (part.width / Double(divisor), part.height / Double(divisor))
        } else {
            isGrown = false
        }
        let shrunk = try VipsCoder.open(source, as: header.format, frames: .primary, shrink: shrink)
            .inEightBits()
        let small = try isGrown ? shrunk.reduced(to: target, showing: part) : shrunk.resized(to: target)
        return try upright(small, turn)
    }

    // MARK: - Intermediates

    /// A still's intermediate of this size, upright and in sRGB, with all its pixels in memory.
    package func intermediate(
        of source: borrowing VipsSource, header: ImageHeader, size: PixelSize
    ) throws(ImagingError) -> VipsImage {
        let intermediate = try resampled(source, header, header.orientation, to: size).inSRGB(keepsGrey: true)
            .computed()
        intermediate.forgetProfile()
        return intermediate
    }

    /// Applies the pipeline, which begins with `resize`, to an intermediate of a picture of size `original`.
    package func image(
        fromIntermediate intermediate: borrowing VipsImage, of original: PixelSize,
        in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        guard let resize = operations.first as? Resize else {
            return try stillApplied(from: 0, to: intermediate, in: &context)
        }
        context.source = original
        let plan = resize.plan(for: original)
        try context.check(plan.scaled)
        let cut = try resize.cut(intermediate.resized(to: plan.scaled), plan, in: &context)
        return try stillApplied(from: 1, to: cut, in: &context)
    }

    // MARK: - Animations

    private func animation(
        from source: borrowing VipsSource, _ header: ImageHeader, _ frames: FrameSelection, _ turn: Int,
        _ context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        let opened = try VipsCoder.open(source, as: header.format, frames: frames, shrink: .none)
        var playback = Playback(frames: context.frames, timing: opened.timing)
        // The delays are those of all frames, whichever are decoded.
        if case .range(let range) = frames, playback.delays.count == header.frames {
            playback.delays = Array(playback.delays[range])
        }
        // Frames are read one by one and more than once, so they are decoded now.
        guard opened.size.height == header.size.height * context.frames else {
            throw .badImageData("another number of frames than the header says")
        }
        let allFrames = try opened.inEightBits().inMemory()
        var strip = FrameStrip()
        for index in 0..<context.frames {
            let place = PixelRectangle(left: 0, top: index * header.size.height, size: header.size)
            let frame = try allFrames.cropped(to: place)
            frame.forgetFrames()
            strip.append(try upright(frame, turn).inSRGB(keepsGrey: true))
        }
        var finished = try applied(from: 0, to: strip, &playback, in: &context)
        return try finished.joined(timing: playback.timing)
    }

    // MARK: - Common steps

    private func upright(_ image: borrowing VipsImage, _ turn: Int) throws(ImagingError) -> VipsImage {
        try turn == 1 ? image.duplicate() : image.oriented(by: turn)
    }

    private func stillApplied(
        from first: Int, to image: borrowing VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        var strip = FrameStrip()
        strip.append(try image.inSRGB(keepsGrey: true))
        var playback = Playback(frames: 1, timing: AnimationTiming(delays: [], loop: 0))
        return try applied(from: first, to: strip, &playback, in: &context).frame(0)
    }

    /// Applies one operation after the other, each to all frames: some operations must see all of them first.
    private func applied(
        from first: Int, to frames: consuming FrameStrip, _ playback: inout Playback,
        in context: inout TransformContext
    ) throws(ImagingError) -> FrameStrip {
        var frames = frames
        for index in operations.indices.dropFirst(first) {
            context.operation = index
            let operation = try operations[index].scaled(byDensity: context.density)
            operation.schedule(&playback)
            if operation.looksAhead {
                frames = try frames.inMemory()
                for frame in 0..<frames.count { try operation.survey(frames.frame(frame), in: &context) }
            }
            var changed = FrameStrip()
            for frame in playback.order {
                let image = try operation.apply(to: frames.frame(frame), in: &context)
                try context.check(image.size)
                changed.append(image)
            }
            frames = changed
            playback.order.sort()
        }
        return frames
    }
}
