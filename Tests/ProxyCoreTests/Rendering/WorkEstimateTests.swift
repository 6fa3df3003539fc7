// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Bodies
@testable import ImageTestSupport
@testable import Imaging
@testable import Rendering

@Suite("The work of a plan")
struct WorkEstimateTests {
    /// A source, a plan, and what `bench-work` measured, if it did.
    struct Job: CustomTestStringConvertible {
        var source = ImageFormat.jpeg
        var size = PixelSize(4_000, 3_000)
        var frames = 1
        var mustBeHeldWhole = false
        var hasAlpha = false
        let transform: String
        let output: RenderPlan.FormatChoice
        var isLossless = false
        var effort = EncodingEffort.full
        var milliseconds = 0.0

        var testDescription: String { "\(source) \(size) × \(frames) \(transform) → \(output)" }

        func work(_ change: (inout RenderPlan) -> Void = { _ in }) throws -> Int {
            let header = ImageHeader(
                format: source, size: size, frames: frames, hasAlpha: hasAlpha, orientation: 1,
                mustBeHeldWhole: mustBeHeldWhole)
            let pipeline =
                transform.isEmpty ? TransformPipeline() : try TransformPipeline(parsing: transform)
            var plan = RenderPlan(pipeline: pipeline, format: output)
            plan.isLossless = isLossless
            plan.effort = effort
            plan.decodableFormats = ImageFormat.allCases
            change(&plan)
            return WorkEstimate(header: header, frames: plan.frame == nil ? frames : 1, plan: plan).megapixels
        }
    }

    /// Processor time of a megapixel that is written as JPEG, where the others were measured.
    private static let unit = 25.0

    @Test(
        "An estimate is near to what was measured",
        arguments: [
            Job(transform: "", output: .explicit(.jpeg), milliseconds: 383),
            Job(transform: "", output: .explicit(.png), milliseconds: 4_678),
            Job(transform: "", output: .explicit(.webp), milliseconds: 1_589),
            Job(transform: "", output: .explicit(.webp), isLossless: true, milliseconds: 19_897),
            Job(transform: "resize:1600x", output: .explicit(.avif), milliseconds: 2_298),
            Job(transform: "resize:1600x", output: .explicit(.avif), isLossless: true, milliseconds: 3_033),
            Job(transform: "resize:1600x", output: .explicit(.gif), milliseconds: 2_779),
            Job(transform: "resize:1600x", output: .explicit(.jxl), milliseconds: 726),
            Job(transform: "resize:1600x", output: .explicit(.jxl), isLossless: true, milliseconds: 7_252),
            Job(transform: "resize:5000x5000:fill:enlarge=1", output: .explicit(.jpeg), milliseconds: 2_047),
            Job(transform: "rotate:30", output: .explicit(.jpeg), milliseconds: 2_001),
            Job(transform: "blur:2.9", output: .explicit(.jpeg), milliseconds: 1_929),
            Job(transform: "sharpen:2.9", output: .explicit(.jpeg), milliseconds: 2_231),
            Job(transform: "round:200:border=20", output: .explicit(.jpeg), milliseconds: 1_846),
            Job(transform: "text:Hello:2000", output: .explicit(.jpeg), milliseconds: 1_287),
            Job(source: .png, transform: "", output: .explicit(.jpeg), milliseconds: 623),
            Job(
                source: .png, mustBeHeldWhole: true, hasAlpha: true, transform: "", output: .explicit(.webp),
                milliseconds: 2_251),
            Job(source: .avif, transform: "", output: .explicit(.jpeg), milliseconds: 804),
            Job(
                source: .gif, size: PixelSize(480, 360), frames: 8, transform: "", output: .explicit(.gif),
                milliseconds: 817),
        ])
    func measured(job: Job) throws {
        let estimate = Double(try job.work()) * Self.unit

        #expect((job.milliseconds * 0.75...job.milliseconds * 1.4).contains(estimate), "\(estimate) ms")
    }

    @Test(
        "Ordinary plans are within the default bound",
        arguments: [
            Job(transform: "resize:800x", output: .automatic([.avif, .webp])),
            Job(
                transform: "resize:1600x1200:cover:smart,sharpen,round:40",
                output: .automatic([.avif, .webp])),
            Job(transform: "", output: .automatic([.avif, .webp])),
            Job(transform: "", output: .automatic([])),
            Job(size: PixelSize(6_000, 4_000), transform: "resize:4096x4096:fill", output: .explicit(.webp)),
            Job(
                size: PixelSize(1_000, 1_000), transform: "resize:4096x4096:enlarge=1",
                output: .explicit(.webp)),
            Job(size: PixelSize(8_000, 6_000), transform: "", output: .explicit(.jpeg)),
            Job(size: PixelSize(3_200, 2_400), transform: "", output: .explicit(.png)),
            Job(transform: "blur:2.9", output: .explicit(.jpeg)),
            Job(
                source: .png, size: PixelSize(7_000, 7_000), mustBeHeldWhole: true, hasAlpha: true,
                transform: "resize:300x", output: .automatic([.webp])),
            Job(
                source: .avif, size: PixelSize(7_000, 7_000), transform: "resize:300x", output: .automatic([])
            ),
            Job(
                source: .jxl, size: PixelSize(7_000, 7_000), transform: "resize:300x", output: .automatic([])),
            Job(
                source: .gif, size: PixelSize(480, 270), frames: 100, hasAlpha: true, transform: "",
                output: .automatic([.webp])),
            Job(size: PixelSize(7_000, 7_000), transform: "", output: .information),
        ])
    func ordinary(job: Job) throws {
        #expect(try job.work() <= RenderLimits().unsignedWork)
    }

    @Test(
        "Plans of many seconds are beyond it, whatever their work consists of",
        arguments: [
            Job(
                size: PixelSize(1_200, 800), transform: "resize:7000x7000:fill:enlarge=1",
                output: .explicit(.webp), isLossless: true),
            Job(
                size: PixelSize(1_200, 800), transform: "resize:7000x7000:fill:enlarge=1",
                output: .explicit(.webp)),
            Job(transform: "", output: .explicit(.avif)),
            Job(transform: "resize:5000x5000:fill:enlarge=1,resize:10x10", output: .explicit(.jpeg))
                .repeated(4),
            Job(transform: "blur:2.9,sharpen:2.9,blur:2.9,resize:10x", output: .explicit(.jpeg)),
            Job(transform: "rotate:30,crop:10x10,resize:6000x6000:fill:enlarge=1", output: .explicit(.jpeg)),
            Job(
                size: PixelSize(7_000, 7_000),
                transform: "crop:100x100,resize:7000x7000:fill:enlarge=1:bound=source,blur:2.9,blur:2.9",
                output: .explicit(.jpeg)),
            Job(transform: "extend:7000x7000:fill=mirror", output: .explicit(.png)),
            Job(source: .gif, size: PixelSize(480, 270), frames: 250, transform: "", output: .source),
        ])
    func expensive(job: Job) throws {
        #expect(try job.work() > RenderLimits().unsignedWork)
    }

    @Test(
        "With the fast effort AVIF and JPEG XL are less work, and an automatic choice may try lossless WebP in addition"
    )
    func efforts() throws {
        func work(_ format: RenderPlan.FormatChoice, _ effort: EncodingEffort) throws -> Int {
            try Job(transform: "resize:1000x1000:fill", output: format, effort: effort).work()
        }

        for format in [ImageFormat.avif, .jxl] {
            #expect(try work(.explicit(format), .fast) < work(.explicit(format), .full))
        }
        #expect(try work(.explicit(.webp), .fast) == work(.explicit(.webp), .full))
        let (chosen, tried) = (
            try work(.automatic([.avif]), .fast), try work(.automatic([.avif, .webp]), .fast)
        )
        #expect(tried == chosen + 16)
    }

    @Test("The attempts that max_bytes may take count, and so do the frames before the requested one")
    func multiples() throws {
        let lossy = Job(transform: "resize:1000x1000:fill", output: .explicit(.avif))
        let animation = Job(
            source: .gif, size: PixelSize(1_000, 1_000), frames: 40, transform: "resize:10x",
            output: .explicit(.jpeg))

        let (once, tried) = (try lossy.work(), try lossy.work { $0.maxBytes = 10 })
        let (first, last) = (try animation.work { $0.frame = 0 }, try animation.work { $0.frame = 39 })

        #expect(tried > once * 6 && tried <= once * 8)
        #expect(first <= 2 && (40...44).contains(last))
    }

    @Test("Either renderer refuses too much work before a pixel is decoded")
    func refused() async throws {
        var plan = RenderPlan(
            pipeline: try TransformPipeline(parsing: "resize:3000x3000:fill:enlarge=1"),
            format: .explicit(.jpeg))
        plan.workLimit = 20
        let source = StoredBody.bytes(try TestPicture.ramps(64, 48).encoded(as: .png))
        let wanted = RenderError.tooMuchWork(29, limit: 20)

        await #expect(throws: wanted) {
            try await InProcessRenderer().render(plan, from: source, into: RenderTarget().file, at: 0)
        }
        try await WorkerPool.running { pool in
            await #expect(throws: wanted) {
                try await pool.render(plan, from: source, into: RenderTarget().file, at: 0)
            }
            #expect(pool.statistics.restarts.isEmpty)
        }
    }
}

extension WorkEstimateTests.Job {
    /// The same operations, so often one after the other.
    fileprivate func repeated(_ count: Int) -> Self {
        Self(
            source: source, size: size,
            transform: [String](repeating: transform, count: count).joined(separator: ","),
            output: output)
    }
}
