// SPDX-License-Identifier: Apache-2.0

package import Imaging

/// The work of a job, from facts of the header alone: the pixels that are decoded, changed and written,
/// weighted by their processor time relative to a pixel written as JPEG.
///
/// The factors are for photographs, measured by `bench-work`; the table is in `docs/engine.md`. It bounds
/// what clients may request, so what is beyond `limits` anyway is not counted: that is refused for its size.
package struct WorkEstimate {
    package let header: ImageHeader
    /// How many frames are decoded and written.
    package let frames: Int
    package let plan: RenderPlan

    package init(header: ImageHeader, frames: Int, plan: RenderPlan) {
        self.header = header
        self.frames = frames
        self.plan = plan
    }

    /// The whole estimate, in megapixels, rounded up.
    var megapixels: Int {
        let pixels = decoding + operations.cost + writing(operations.size) + intermediate
        return Int((pixels / 1_000_000).rounded(.up))
    }

    // MARK: - Decoding

    private var decoding: Double {
        // Frames are composed from the first one on.
        let decoded = header.isAnimation ? (plan.frame ?? 0) + frames : frames
        let pixels = Double(header.size.area) * Double(decoded)
        return pixels * header.format.traits.decodingWork(header) + Double(header.embeddedPixels)
    }

    // MARK: - Operations

    /// The work of the operations, and the size of a frame after them.
    private var operations: (cost: Double, size: PixelSize) {
        let source = plan.uprightSize(of: header)
        var (size, cost) = (source, 0.0)
        guard plan.format != .information else { return (Double(header.size.area) * Operation.report, size) }
        for operation in plan.pipeline.operations {
            // A resize may be bound by the source's size, whatever another operation has left of it.
            let resize = (operation as? Resize)?.plan(for: size, first: source)
            let result = resize?.cut ?? operation.resultSize(of: size)
            let largest = resize?.scaled ?? result
            guard plan.permits(largest, frames: frames) else { break }
            cost += self.cost(of: operation, on: size, making: largest) * Double(frames)
            size = result
        }
        return (cost, size)
    }

    /// - Parameter result: what the operation makes, of a resize before it is cut.
    private func cost(
        of operation: any ImageTransforming, on size: PixelSize, making result: PixelSize
    ) -> Double {
        let search = operation.searchesContent ? Operation.search : 0
        guard operation is Resize else {
            let letters = (operation as? Text).map { $0.area(on: size) * Operation.letters } ?? 0
            return Double(max(size.area, result.area)) * (operation.cost.work + search) + letters
        }
        let scaled = result.area
        let linear = plan.isLinear ? Double(max(size.area, scaled)) * Operation.linear : 0
        let factor = scaled > size.area ? Operation.enlarging : Operation.shrinking
        return Double(scaled) * (factor + search) + linear
    }

    private enum Operation {
        /// For each pixel of the square around a letter.
        static let letters = 1.8
        /// Finding the crop of interest.
        static let search = 1.0
        /// For each pixel that is made.
        static let (shrinking, enlarging) = (1.0, 2.2)
        /// For each pixel of the larger, in addition.
        static let linear = 1.3
        static let report = 0.5
    }

    // MARK: - Writing

    /// The work of writing, for the most expensive format that may be chosen.
    private func writing(_ size: PixelSize) -> Double {
        let decision = FormatDecision(plan: plan, header: plan.original ?? header)
        let mayHaveAlpha = header.hasAlpha || plan.pipeline.operations.contains(where: \.mayAddAlpha)
        let factor =
            [header.hasAlpha, mayHaveAlpha].map { hasAlpha in
                let result = FormatDecision.Result(size: size, hasAlpha: hasAlpha, isAnimated: frames > 1)
                // Ignored: that the format can't hold it, which is reported when it is made.
                guard plan.format != .information, let format = try? decision.format(for: result) else {
                    return 0
                }
                return cost(of: format)
            }.max() ?? 0
        return Double(size.area) * Double(frames) * (factor + drawing(size))
    }

    /// The work of trying lossless WebP for each pixel, if a result may be tried so: it need not be used.
    private func drawing(_ size: PixelSize) -> Double {
        plan.mayTryLossless(size, frames: frames) ? Self.losslessDrawing : 0
    }

    /// The work of writing a pixel, as often as it is tried.
    package func cost(of format: ImageFormat) -> Double {
        let settings = plan.settings(for: format)
        return format.traits.encodingWork(settings, frames: frames) * tries(of: settings)
    }

    private func tries(of settings: EncodeSettings) -> Double {
        guard plan.maxBytes != nil, !plan.isLossless else { return 1 }
        switch settings.format.traits.sizeReduction {
        // The range of qualities is halved until one is found.
        case .quality: return Double(1 + Int.bitWidth - settings.quality.leadingZeroBitCount)
        case .palette: return Self.palettes
        case .none: return 1
        }
    }

    /// The maximum number of attempts with a palette.
    private static let palettes = 4.0
    /// Lossless WebP of a picture of few colours; the most expensive that was found is noise of 1,024
    /// with flat runs.
    private static let losslessDrawing = 16.0

    /// The intermediate that is written beside the result.
    private var intermediate: Double {
        guard case .write(let width, let height, let quality) = plan.intermediate else { return 0 }
        let settings = Rendition.Intermediate.settings(hasAlpha: header.hasAlpha, quality: quality)
        return Double(width * height) * settings.format.traits.encodingWork(settings, frames: 1)
    }
}
