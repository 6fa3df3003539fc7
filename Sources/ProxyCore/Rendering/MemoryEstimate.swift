// SPDX-License-Identifier: Apache-2.0

import Imaging

/// How much memory a job takes at its worst, from facts of the header alone.
///
/// Meant to be no less than what it takes, and no more than twice as much; measured by `bench/memory-table`. A worker's own
/// limit holds beside it.
struct MemoryEstimate {
    let header: ImageHeader
    /// How many frames are decoded.
    let frames: Int
    let plan: RenderPlan
    /// Bytes of the source, which the worker copies.
    let sourceBytes: Int

    /// What any job takes: buffers of coders and of a few rows.
    private static let base = 8 << 20
    /// The whole estimate, in bytes.
    var bytes: Int {
        let job = DecodingJob(
            header: header, frames: frames, isShrunk: isShrunk, isLinear: plan.isLinear, resultPixels: result)
        let decoder = header.format.traits
        let later = decoder.decodingMemory(job) + operations + letters + drawing + writer + intermediate
        return Self.base + sourceBytes + max(decoder.decodingPeak(job), later)
    }

    /// The pixels that are inspected before the format is chosen.
    private var drawing: Int {
        let size = plan.firstSize(of: plan.original ?? header) ?? header.size
        return plan.mayTryLossless(size, frames: frames) ? result * DecodingJob.bytesPerPixel : 0
    }

    // MARK: - Decoding

    /// Whether the decoder itself shrinks the picture.
    private var isShrunk: Bool {
        frames == 1 && plan.frame == nil && result < header.size.area
            && (plan.pipeline.operations.first is Resize && !plan.isLinear || plan.format == .information)
    }

    // MARK: - Operations

    /// The most pixels that an operation makes, or that are decoded where the first is no resize, as far as the header
    /// determines them; none for a report.
    private var result: Int { made.pixels }

    /// What the largest text holds beside the picture: a mask, and its letters in their colour.
    private var letters: Int { made.letters * (DecodingJob.bytesPerPixel + 2) }

    /// The same; the most pixels that an operation reads, which may be more than once; and the pixels of the largest text.
    private var made: (pixels: Int, read: Int, letters: Int) {
        guard plan.format != .information else { return (0, 0, 0) }
        let source = plan.uprightSize(of: header)
        let operations = plan.pipeline.operations
        var size = source
        // What a first resize leaves is all that is decoded.
        var (largest, letters) = (operations.first is Resize ? 0 : source.area, 0)
        var read = largest
        for (index, operation) in operations.enumerated() {
            let resize = (operation as? Resize)?.plan(for: size, first: source)
            let made = resize?.scaled ?? operation.resultSize(of: size)
            // Beyond the limits the operation fails before it makes anything.
            guard plan.permits(made, frames: frames) else { break }
            largest = max(largest, made.area)
            if index > 0 { read = max(read, size.area) } else if resize != nil { read = made.area }
            if let text = operation as? Text {
                letters = max(letters, Int(min(text.area(on: size), Double(plan.limits.outputPixels))))
            }
            size = resize?.cut ?? made
        }
        return (largest * frames, read * frames, letters)
    }

    /// What operations hold that need the whole picture: once, however many they are.
    private var operations: Int {
        let isTurned = (plan.pipeline.orientation?.value(for: header.orientation) ?? header.orientation) > 2
        let held = plan.pipeline.operations.map(\.cost.memory).max() ?? 0
        let copies = plan.maxBytes == nil && frames == 1 ? 0 : DecodingJob.bytesPerPixel
        let upright = plan.isLinear && isTurned ? header.size.area * frames * DecodingJob.bytesPerPixel : 0
        let read = made.read * max(held, isTurned ? DecodingJob.bytesPerPixel : 0)
        return read + result * copies + upright
    }

    // MARK: - Writing

    /// What the encoder holds, for the most expensive format that may be chosen.
    private var writer: Int {
        switch plan.format {
        case .explicit(let format): writer(of: format)
        case .automatic(let formats): (formats + [header.format, .png]).map(writer).max() ?? 0
        case .source: max(writer(of: header.format), writer(of: .png))
        case .information: 0
        }
    }

    private func writer(of format: ImageFormat) -> Int {
        if case .automatic = plan.format, result >= format.traits.automaticPixels(in: plan) { return 0 }
        return format.traits.encodingMemory(pixels: result, frames: frames, hasAlpha: header.hasAlpha)
    }

    /// The intermediate that is written beside the result, which is held while both are made.
    private var intermediate: Int {
        guard case .write(let width, let height, _) = plan.intermediate else { return 0 }
        return width * height * (DecodingJob.bytesPerPixel + 4)
    }
}
