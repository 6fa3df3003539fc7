// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Bodies
@testable import ImageTestSupport
@testable import Imaging
@testable import Primitives
@testable import Rendering

@Suite("The cheapest format where many jobs wait", .serialized)
struct CheapestFormatTests {
    struct Case: Sendable {
        let accepted: [ImageFormat]
        let source: ImageFormat
        var hasAlpha = false
        var isLossless = false
        let wanted: ImageFormat
    }

    @Test(
        "The cheapest format is one that the client accepts or need not name, and that can hold the picture",
        arguments: [
            Case(accepted: [.avif, .webp], source: .jpeg, wanted: .jpeg),
            Case(accepted: [.avif, .webp], source: .png, wanted: .webp),
            Case(accepted: [.avif], source: .png, wanted: .avif),
            Case(accepted: [.avif, .webp], source: .png, hasAlpha: true, wanted: .webp),
            Case(accepted: [.avif, .webp], source: .jpeg, hasAlpha: true, wanted: .webp),
            Case(accepted: [.avif], source: .jpeg, hasAlpha: true, wanted: .avif),
            Case(accepted: [.avif, .webp], source: .png, isLossless: true, wanted: .png),
            Case(accepted: [], source: .png, wanted: .png),
        ])
    func choice(_ example: Case) throws {
        var plan = RenderPlan(format: .automatic(example.accepted))
        plan.takesCheapest = true
        plan.isLossless = example.isLossless
        let header = ImageHeader(
            format: example.source, size: PixelSize(100, 100), frames: 1, hasAlpha: example.hasAlpha,
            orientation: 1)

        let format = try FormatDecision(plan: plan, header: header).format(
            for: .init(size: PixelSize(100, 100), hasAlpha: example.hasAlpha, isAnimated: false))

        #expect(format == example.wanted)
        plan.format = .explicit(.avif)
        let explicit = try FormatDecision(plan: plan, header: header).format(
            for: .init(size: PixelSize(100, 100), hasAlpha: false, isAnimated: false))
        #expect(explicit == .avif)
    }

    @Test(
        "A job that has waited for a worker for transform.cheapestAfter uses the cheapest format, and no other job does",
        arguments: [(TimeSpan.milliseconds(1), ImageFormat.jpeg), (.hours(1), .avif), (.seconds(0), .avif)])
    func waited(cheapestAfter: TimeSpan, wanted: ImageFormat) async throws {
        let time = ManualTime()
        try await WorkerPool.running(by: time, { $0.cheapestAfter = cheapestAfter }) { pool in
            let source = StoredBody.bytes(Fixtures.photo)
            let plan = RenderPlan(
                pipeline: try TransformPipeline(parsing: "resize:60x"), format: .automatic([.avif, .webp]))
            let pid = try #require(pool.statistics.processIdentifiers.first)
            kill(pid, SIGSTOP)
            let first = await pool.begin(
                { try await pool.render(plan, from: source, into: RenderTarget().file, at: 0) },
                until: { $0.busy > 0 })
            let second = Task { try await pool.render(plan, from: source, into: RenderTarget().file, at: 0) }
            while pool.statistics.queueDepth < 1 { await Task.yield() }
            time.advance(by: .milliseconds(1))
            kill(pid, SIGCONT)

            _ = try await first.value
            let rendition = try await second.value
            #expect(rendition.format == wanted)
            #expect(rendition.isCheapest == (wanted == .jpeg))
        }
    }
}
