// SPDX-License-Identifier: Apache-2.0

import Imaging
import Primitives

/// Executes one plan on the calling thread: the same in a worker process and in this one.
struct RenderEngine {
    let plan: RenderPlan
    /// Whether no other job runs in this process, so that the libraries' warnings are this one's.
    var isOnlyJobInProcess = false

    /// Decodes, transforms, encodes and writes; blocks until all is written.
    /// - Parameter admit: called before a pixel is decoded: whether the job may take so many bytes, and so
    ///   much work (`WorkEstimate`).
    func execute(
        _ source: borrowing VipsSource, into destination: CInt, at offset: Int64,
        intermediateTarget: (file: CInt, offset: Int64)? = nil,
        admit: (_ bytes: Int, _ work: Int) throws(RenderError) -> Void = { _, _ in }
    ) throws(RenderError) -> Rendition {
        let watch = StopWatch()
        guard let format = source.format else {
            throw source.unreadableFormat.map { .unsupportedFormat($0.rawValue) } ?? .notAnImage
        }
        if isOnlyJobInProcess { VipsLibrary.clearErrors() }
        let rendition = try FreshMemory.isCleared(for: format) { () throws(RenderError) in
            let header = try self.header(of: source, as: format)
            let page = try self.page(of: source, header)
            if plan.admits(page) {
                var rendition = try renderPage(
                    source, page, watch, into: destination, at: offset,
                    intermediateTarget: intermediateTarget, admit: admit)
                // Whichever page was used, the source's facts are those of its first one.
                if plan.original == nil { rendition.source = header.facts }
                return rendition
            }
            guard let plan = plan.shrinking(page) else {
                // The failure of a page that the plan names says nothing about the others.
                if let violation = self.plan.limitViolation(of: header) { throw .tooManyPixels(violation) }
                throw .resultTooLarge(self.plan.limitViolation(of: page) ?? "")
            }
            return try RenderEngine(plan: plan).renderPage(
                source, page, watch, into: destination, at: offset, intermediateTarget: nil, admit: admit)
        }
        if isOnlyJobInProcess, let damage = source.damage { throw .badImageData(damage) }
        return rendition
    }

    /// Renders the page that is requested, which is within the limits; of most sources it is the only one.
    private func renderPage(
        _ source: borrowing VipsSource, _ header: ImageHeader, _ started: StopWatch,
        into destination: CInt, at offset: Int64, intermediateTarget: (file: CInt, offset: Int64)?,
        admit: (_ bytes: Int, _ work: Int) throws(RenderError) -> Void
    ) throws(RenderError) -> Rendition {
        var watch = started
        // The original of an intermediate decides everything but how it is decoded.
        let original = plan.original ?? header
        let decision = FormatDecision(plan: plan, header: original)
        let frames = try decision.frames()
        let count = frames.count(of: header.frames)
        if let violation = plan.limitViolation(ofFirstSizeOf: original, frames: count) {
            throw .resultTooLarge(violation)
        }
        let work = WorkEstimate(header: header, frames: count, plan: plan).megapixels
        if let limit = plan.workLimit, work > limit { throw .tooMuchWork(work, limit: limit) }
        let memory = MemoryEstimate(
            header: header, frames: count, plan: plan, sourceBytes: source.count
        ).bytes
        try admit(memory, work)
        if plan.format == .information {
            var report = try inform(source, header, into: destination, at: offset, watch)
            report.memory = memory
            return report
        }
        let decode = watch.lap()

        var written: Rendition.Intermediate?
        let image = try transformed(source, header, frames, count, intermediateTarget, &written)
        let shown = decision.stacksFrames ? 1 : count
        if shown < count { image.forgetFrames() }
        let size = PixelSize(image.size.width, image.size.height / shown)
        guard max(size.width, size.height) <= plan.limits.side else {
            throw .resultTooLarge("the result would be \(size), limits.side is \(plan.limits.side)")
        }
        let result = FormatDecision.Result(size: size, hasAlpha: image.hasAlpha, isAnimated: shown > 1)
        var format = try decision.format(for: result)
        let usual = try decision.usualFormat(for: result)
        let isCheapest = plan.takesCheapest && usual != format
        let transform = watch.lap()

        let mayTryLossless = !isCheapest && plan.mayTryLossless(size, frames: shown)
        let encoded = try encode(
            image, &format, mayTryLossless: mayTryLossless, from: source, header, frames)
        try unsafe encoded.withBytes { bytes throws(RenderError) in
            try unsafe DescriptorBytes.write(bytes, to: destination, at: offset)
        }
        var rendition = Rendition(
            format: format, width: size.width, height: size.height, frames: shown, byteCount: encoded.count,
            source: original.facts,
            timings: .init(decode: decode, transform: transform, encode: watch.lap()))
        rendition.intermediate = written
        rendition.memory = memory
        rendition.isCheapest = isCheapest
        return rendition
    }

    /// Writes the source's facts in place of a picture.
    private func inform(
        _ source: borrowing VipsSource, _ header: ImageHeader, into destination: CInt, at offset: Int64,
        _ started: StopWatch
    ) throws(RenderError) -> Rendition {
        var watch = started
        let decode = watch.lap()
        let report: [UInt8]
        do { report = try SourceReport(source, header).json } catch { throw RenderError(error) }
        try DescriptorBytes.write(report, to: destination, at: offset)
        return Rendition(
            format: header.format, width: header.size.width, height: header.size.height,
            frames: header.frames, byteCount: report.count,
            source: header.facts, timings: .init(decode: decode, encode: watch.lap()))
    }

    /// Reads the header, and checks the limits before a pixel is decoded.
    private func header(
        of source: borrowing VipsSource, as format: ImageFormat
    ) throws(RenderError) -> ImageHeader {
        guard plan.readableFormats.contains(format) else { throw .unsupportedFormat(format.rawValue) }
        let header: ImageHeader
        do { header = try VipsCoder.header(of: source, as: format) } catch {
            if case .tooManyPixels(let why) = error { throw .tooManyPixels(why) }
            throw RenderError(error)
        }
        guard header.frames <= plan.limits.frames else {
            throw .tooManyFrames(
                "the image has \(header.frames) frames or pages, limits.frames is \(plan.limits.frames)")
        }
        return header
    }

    /// The header of the requested page, which may differ from that of the first one.
    private func page(
        of source: borrowing VipsSource, _ header: ImageHeader
    ) throws(RenderError) -> ImageHeader {
        guard let index = plan.frame, index < header.frames, header.frames > 1, header.format.traits.hasPages,
            plan.format != .information
        else { return header }
        do { return try VipsCoder.header(ofPage: index, in: source, header) } catch {
            throw RenderError(error)
        }
    }

    private func transformed(
        _ source: borrowing VipsSource, _ header: ImageHeader, _ frames: FrameSelection, _ count: Int,
        _ intermediateTarget: (file: CInt, offset: Int64)?, _ written: inout Rendition.Intermediate?
    ) throws(RenderError) -> VipsImage {
        var context = TransformContext(
            maxPixels: plan.limits.outputPixels, maxSide: plan.limits.side, frames: count,
            overlays: Dictionary(plan.watermarks.map { ($0.name, $0.bytes) }, uniquingKeysWith: { $1 }))
        context.isLinear = plan.isLinear
        do {
            let image: VipsImage
            if let intermediateTarget, case .write(let width, let height, let quality) = plan.intermediate {
                let intermediate = try plan.pipeline.intermediate(
                    of: source, header: header, size: PixelSize(width, height))
                written = Self.write(
                    intermediate, quality: quality, into: intermediateTarget.file,
                    at: intermediateTarget.offset)
                image = try plan.pipeline.image(
                    fromIntermediate: intermediate, of: header.upright, in: &context)
            } else {
                image = try plan.pipeline.image(
                    from: source, header: header, frames: frames, standingFor: plan.original,
                    in: &context)
            }
            try context.check(PixelSize(image.size.width, image.size.height / count))
            return image
        } catch {
            throw RenderError(error)
        }
    }

    /// Writes an intermediate; nil if that fails, which only affects the next job.
    private static func write(
        _ intermediate: borrowing VipsImage, quality: Int, into file: CInt, at offset: Int64
    ) -> Rendition.Intermediate? {
        let settings = Rendition.Intermediate.settings(hasAlpha: intermediate.hasAlpha, quality: quality)
        // Ignored in both: why; without one the next size is made from the original.
        guard let encoded = try? VipsCoder.encode(intermediate, settings) else { return nil }
        let isWritten: Void? = try? unsafe encoded.withBytes { bytes throws(RenderError) in
            try unsafe DescriptorBytes.write(bytes, to: file, at: offset)
        }
        return isWritten == nil ? nil : .init(format: settings.format, byteCount: encoded.count)
    }

    /// Pixels are computed while they are encoded, so a damaged source and a failing encoder fail in the same
    /// place: if the source can be read to its end, it is not at fault.
    ///
    /// - Parameters:
    ///   - format: the format to write; after the call the one that was written.
    ///   - mayTryLossless: whether lossless WebP is tried, too, for a picture of few colours and flat runs,
    ///     and used if it is smaller.
    private func encode(
        _ image: borrowing VipsImage, _ format: inout ImageFormat, mayTryLossless: Bool,
        from source: borrowing VipsSource, _ header: ImageHeader, _ frames: FrameSelection
    ) throws(RenderError) -> EncodedImage {
        let settings = plan.settings(for: format)
        VipsLibrary.unblock(format)
        do {
            if mayTryLossless { return try encodeDrawing(image, settings, &format) }
            guard let limit = plan.maxBytes else { return try VipsCoder.encode(image, settings) }
            return try VipsCoder.encode(image, settings, within: limit)
        } catch {
            guard case .badImageData = error, VipsCoder.isSound(source, header, frames: frames)
            else { throw RenderError(error) }
            throw .outOfMemory
        }
    }

    /// Encodes with the settings, and a picture of few colours and flat runs also as lossless WebP; returns
    /// the smaller one.
    private func encodeDrawing(
        _ image: borrowing VipsImage, _ settings: EncodeSettings, _ format: inout ImageFormat
    ) throws(ImagingError) -> EncodedImage {
        // Inspected and encoded: computed once.
        let pixels = try image.computed()
        let usual = try VipsCoder.encode(pixels, settings)
        guard pixels.isFlat else { return usual }
        var lossless = settings
        (lossless.format, lossless.isLossless, lossless.isQuickWebP) = (.webp, true, false)
        VipsLibrary.unblock(.webp)
        let exact = try VipsCoder.encode(pixels, lossless)
        guard exact.count < usual.count else { return usual }
        format = .webp
        return exact
    }
}
