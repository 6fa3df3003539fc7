// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Bodies
@testable import Cache
@testable import Imaging
@testable import Pipeline
@testable import Primitives
@testable import Rendering
@testable import Request

@Suite("A result that fails")
struct VerificationTests {
    /// A renderer that fails on given plans, in the ways that only a worker can.
    private final class FailingRenderer: ImageRendering {
        private let error: RenderError
        private let fails: @Sendable (RenderPlan) -> Bool
        private let renderer = InProcessRenderer()
        let plans = Observed<[RenderPlan]>([])

        init(_ error: RenderError, where fails: @escaping @Sendable (RenderPlan) -> Bool) {
            (self.error, self.fails) = (error, fails)
        }

        func render(
            _ plan: RenderPlan, from source: StoredBody, into destination: OwnedDescriptor, at offset: Int64,
            intermediateTarget: FilePlace?, for interest: Waiters
        ) async throws(RenderError) -> Rendition {
            plans.update { $0.append(plan) }
            guard !fails(plan) else { throw error }
            return try await renderer.render(
                plan, from: source, into: destination, at: offset, intermediateTarget: intermediateTarget,
                for: interest)
        }
    }

    private static let failures: [(RenderError, PipelineError)] = [
        (.timedOut, .transformTimeout), (.decoderCrashed, .decoderCrashed),
        (.badImageData("a"), .badImageData),
    ]
    fileprivate static let cheapest = "resize:size=16x16"

    private func fixture(_ renderer: FailingRenderer) throws -> PipelineFixture {
        let fixture = try PipelineFixture(renderer: renderer)
        fixture.origin.route(
            "/a.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=600")]))
        return fixture
    }

    @Test("A failure caused by the plan leaves the source usable to others, however often clients cause it")
    func plans() async throws {
        for (error, failure) in Self.failures {
            let renderer = FailingRenderer(error) { $0.pipeline.transformerKey.contains("blur") }
            let fixture = try fixture(renderer)

            for sigma in 1...4 {
                await #expect(throws: failure) {
                    try await fixture.get("/a.jpg", "transform=resize:40x40,blur:\(sigma)")
                }
                while !renderer.plans.value.contains(where: { $0.pipeline.transformerKey == Self.cheapest }) {
                    await Task.yield()
                }
            }
            await #expect(throws: failure) {
                try await fixture.get("/a.jpg", "transform=resize:40x40,blur:1")
            }
            let other = try await fixture.get("/a.jpg", "transform=resize:40x40")

            #expect(other.description.width == 40)
            let blurs = renderer.plans.value.count { $0.pipeline.transformerKey.contains("blur") }
            #expect(blurs == 4, "the failed result is remembered")
        }
    }

    @Test(
        "A source that fails with the cheapest plan, too, is refused to all clients, after two decodings altogether"
    )
    func sources() async throws {
        for (error, failure) in Self.failures {
            let renderer = FailingRenderer(error) { _ in true }
            let fixture = try fixture(renderer)
            let source = try fixture.request("/a.jpg").sourceKey

            await #expect(throws: failure) { try await fixture.get("/a.jpg", "transform=resize:40x40") }
            while fixture.failures.failure(of: source, at: fixture.clock.now.seconds) == nil {
                await Task.yield()
            }
            for width in 50..<60 {
                await #expect(throws: failure) {
                    try await fixture.get("/a.jpg", "transform=resize:\(width)x")
                }
            }

            #expect(renderer.plans.value.count == 2)
            #expect(renderer.plans.value.last?.pipeline.transformerKey == Self.cheapest)
        }
    }

    /// A renderer that fails until the source is replaced, and holds its check until a gate opens.
    private final class HeldCheck: ImageRendering {
        let gate = Gate()
        let isReplaced = Observed(false)
        private let renderer = InProcessRenderer()

        func render(
            _ plan: RenderPlan, from source: StoredBody, into destination: OwnedDescriptor, at offset: Int64,
            intermediateTarget: FilePlace?, for interest: Waiters
        ) async throws(RenderError) -> Rendition {
            let isCheck = plan.pipeline.transformerKey == VerificationTests.cheapest
            if isCheck { await gate.passage() }
            guard !isCheck, isReplaced.value else { throw .badImageData("a") }
            return try await renderer.render(
                plan, from: source, into: destination, at: offset, intermediateTarget: intermediateTarget,
                for: interest)
        }
    }

    @Test("A source whose bytes were replaced is not refused because of what the old ones have failed with")
    func replaced() async throws {
        let renderer = HeldCheck()
        let fixture = try PipelineFixture(renderer: renderer)
        let fields = [("Cache-Control", "max-age=60, stale-while-revalidate=0")]
        fixture.origin.route(
            "/a.jpg",
            inTurn: [
                .body(Fixtures.photo(number: 1), fields: fields),
                .body(Fixtures.photo(number: 2), fields: fields),
            ])
        let source = try fixture.request("/a.jpg").sourceKey

        await #expect(throws: PipelineError.badImageData) {
            try await fixture.get("/a.jpg", "transform=resize:40x")
        }
        await renderer.gate.arrival()
        renderer.isReplaced.update { $0 = true }
        fixture.clock.advance(by: 100)
        let sizes = [try await fixture.get("/a.jpg", "transform=resize:50x").description.width]
        renderer.gate.open()
        // Until the check has ended.
        while fixture.failures.failure(of: source, at: fixture.clock.now.seconds) == nil,
            !fixture.failures.beginVerification(of: source, at: fixture.clock.now.seconds)
        {
            await Task.yield()
        }
        let later = [
            try await fixture.get("/a.jpg", "transform=resize:40x").description.width,
            try await fixture.get("/a.jpg", "transform=resize:60x").description.width,
        ]

        #expect(sizes + later == [50, 40, 60])
        #expect(fixture.failures.failure(of: source, at: fixture.clock.now.seconds) == nil)
    }

    @Test("A picture that can't be decoded still goes out as it came, whatever others request of it")
    func untouched() async throws {
        for control in ["no-store", "max-age=1"] {
            let fixture = try PipelineFixture()
            let cut = Array(Fixtures.photo.prefix(Fixtures.photo.count / 2))
            fixture.origin.route("/a.jpg", .body(cut, fields: [("Cache-Control", control)]))
            _ = try await fixture.get("/a.jpg")
            await #expect(throws: PipelineError.badImageData) {
                try await fixture.get("/a.jpg", "transform=resize:40x")
            }
            // Once the source itself has been decoded, no other size is tried.
            let source = try fixture.request("/a.jpg").sourceKey
            while fixture.failures.failure(of: source, at: fixture.clock.now.seconds) == nil {
                await Task.yield()
            }
            let fetches = fixture.origin.count("/a.jpg")
            await #expect(throws: PipelineError.badImageData) {
                try await fixture.get("/a.jpg", "transform=resize:50x")
            }
            #expect(fixture.origin.count("/a.jpg") == fetches)
            fixture.clock.advance(by: 100)
            let later = try await fixture.get("/a.jpg")

            #expect(try later.bytes == cut)
        }
    }

    @Test("A refusal for too much work says nothing of the source, nor to a client that may request more")
    func work() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route(
            "/a.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=600")]))
        var request = try fixture.request("/a.jpg", "transform=resize:1500x1500:fill:enlarge=1&format=jpeg")
        request.workLimit = 1

        let error = await #expect(throws: PipelineError.self) {
            try await fixture.pipeline.response(for: request)
        }
        #expect(error?.row.code == "too_much_work")
        let work = error?.detail?.firstMatch(of: /work of (\d+) megapixels/).flatMap { Int($0.1) }
        #expect(work ?? 0 >= 2)
        #expect(error?.detail?.contains("limits.unsignedWork is 1; a signed URL may go further") == true)
        request.workLimit = nil
        #expect(try await fixture.pipeline.response(for: request).description.width == 1_500)
        request.workLimit = 1
        #expect(
            try await fixture.pipeline.response(for: request).description.width == 1_500,
            "what is made already is no work")
    }
}
