// SPDX-License-Identifier: Apache-2.0

import Imaging

/// How much memory a job takes at its worst, from facts of the header alone.
///
/// Meant to be no less than what it takes, and no more than twice as much; measured by `bench/memory`. A worker's own
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
    /// Rows that are in memory at once if a picture is processed from top to bottom, at full width.
    private static let rowsInFlight = 1_536
    /// The same if the decoder shrinks.
    private static let shrunkRows = 384
    /// Bytes of a decoded pixel in libvips, alpha included.
    private static let bytesPerPixel = 4
    /// Samples that a decoder holds for each pixel: coefficients of 16 bits (JPEG), planes and pixels (HEIF),
    /// a canvas, a frame and libwebp's work memory (WebP).
    private enum Held {
        static let coefficients = 6
        static let interlaced = 5
        static let canvas = 6
        static let video = 10
        static let jxl = 12
        static let lossless = 5
        static let embedded = 8
    }
    /// Bytes for each pixel of a WebP in full size: while it is decoded, and while the result is written.
    private enum WholeWebP {
        static let lossy = (decoding: 10, held: 7)
        static let withAlpha = (decoding: 14, held: 9)
        static let lossless = (decoding: 15, held: 10)
    }
    /// Bytes of a WebP encoder for each pixel, and in addition for alpha.
    private enum WebPWriter {
        static let color = 7
        static let alpha = 8
    }
    /// Bytes of an AV1 encoder for the smallest picture.
    private static let avifWriter = 8 << 20

    /// The whole estimate, in bytes.
    var bytes: Int {
        Self.base + sourceBytes + max(decoding, decoder + operations + drawing + writer + intermediate)
    }

    /// The pixels that are inspected before the format is chosen.
    private var drawing: Int {
        let size = plan.firstSize(of: plan.original ?? header) ?? header.size
        return plan.mayTryLossless(size, frames: frames) ? result * Self.bytesPerPixel : 0
    }

    /// Memory for decoding that is released before anything is written.
    private var decoding: Int { wholeWebP.map { $0.decoding * header.size.area * frames } ?? 0 }

    /// Memory for a WebP in full size; nil for other sources.
    private var wholeWebP: (decoding: Int, held: Int)? {
        guard header.format == .webp else { return nil }
        let isWhole = header.hasAlpha && !header.isInterlaced
        guard isWhole || !isShrunk || header.size.area * frames < LoadShrink.smallSource else { return nil }
        if header.isInterlaced { return WholeWebP.lossless }
        return header.hasAlpha ? WholeWebP.withAlpha : WholeWebP.lossy
    }

    // MARK: - Decoding

    /// What the decoder holds at once.
    private var decoder: Int {
        let pixels = header.size.area * frames
        switch header.format {
        case .jpeg:
            guard !header.isInterlaced else { return pixels * Held.coefficients }
            return rows(plan.isLinear ? Self.rowsInFlight : Self.shrunkRows)
        case .png where header.frames > 1:
            // A canvas, the one before it, and a frame twice, beside the completed frames.
            return pixels * Self.bytesPerPixel + header.size.area * 4 * Self.bytesPerPixel
        case .png, .tiff: return header.isInterlaced ? pixels * Held.interlaced : rows(Self.rowsInFlight)
        case .webp:
            if let whole = wholeWebP { return whole.held * pixels }
            return header.isInterlaced ? pixels * Held.lossless : 0
        case .gif where header.isInterlaced:
            return pixels * Self.bytesPerPixel + header.size.area * 4 * Self.bytesPerPixel
        case .gif: return pixels * Held.canvas + (frames > 1 ? header.size.area * Self.bytesPerPixel : 0)
        case .avif, .heic: return pixels * Held.video
        case .jxl: return pixels * Held.jxl
        case .svg: return result * Self.bytesPerPixel + header.embeddedPixels * Held.embedded
        }
    }

    private func rows(_ count: Int) -> Int {
        min(header.size.area, header.size.width * count) * Self.bytesPerPixel
    }

    /// Whether the decoder itself shrinks the picture.
    private var isShrunk: Bool {
        frames == 1 && plan.frame == nil && result < header.size.area
            && (plan.pipeline.operations.first is Resize && !plan.isLinear || plan.format == .information)
    }

    // MARK: - Operations

    /// The pixels after the first operation if the header determines those, else of the source; none for a
    /// report.
    private var result: Int {
        guard plan.format != .information else { return 0 }
        let first = plan.firstSize(of: plan.original ?? header) ?? header.size
        let canvases = plan.pipeline.operations.compactMap { ($0 as? Extend)?.canvas(for: first).area }
        return max(first.area, canvases.max() ?? 0) * frames
    }

    /// What operations hold that need the whole picture: once, however many they are.
    private var operations: Int {
        let isTurned = (plan.pipeline.orientation?.value(for: header.orientation) ?? header.orientation) > 2
        let held = plan.pipeline.operations.map { Self.heldBytes[type(of: $0).name] ?? 0 }.max() ?? 0
        let copies = plan.maxBytes == nil && frames == 1 ? 0 : Self.bytesPerPixel
        let upright = plan.isLinear && isTurned ? header.size.area * frames * Self.bytesPerPixel : 0
        return result * (max(held, isTurned ? Self.bytesPerPixel : 0) + copies) + upright
    }

    /// Bytes for each pixel of the result.
    private static let heldBytes: [String: Int] = [
        Flip.name: 4, Rotate.name: 8, Blur.name: 4, Sharpen.name: 4, Pixelate.name: 4, Trim.name: 4,
        Round.name: 4, Convolve.name: 8, Equalize.name: 4, Noise.name: 8,
        Mask.name: 4, Extend.name: 4, Watermark.name: 4, Text.name: 4,
    ]

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
        switch format {
        case .avif:
            if case .automatic = plan.format, result >= plan.avifMaxPixels { return 0 }
            return Self.avifWriter + result * 25
        case .jxl: return result * 32
        // Frames are read twice, for their palette and to be written.
        case .gif: return result * (frames > 1 ? 16 : 13)
        case .webp: return result * (WebPWriter.color + (header.hasAlpha ? WebPWriter.alpha : 0))
        case .jpeg, .heic, .svg: return result * 4
        case .png, .tiff: return result * 3
        }
    }

    /// The intermediate that is written beside the result, which is held while both are made.
    private var intermediate: Int {
        guard case .write(let width, let height, _) = plan.intermediate else { return 0 }
        return width * height * (Self.bytesPerPixel + 4)
    }
}
