// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Cache
@testable import Pipeline
@testable import Request

@Suite("Explaining what a request would meet")
struct ExplanationTests {
    @Test("An explanation counts as no look-up")
    func uncounted() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route("/a.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=60")]))
        let request = try fixture.request("/a.jpg", "transform=resize:30x20&format=png")
        func lookUps() -> Int {
            let all = fixture.pipeline.tiers.disk.statistics
            return all.hits.values.reduce(0, +) + all.misses.values.reduce(0, +)
        }

        let before = lookUps()
        _ = await fixture.pipeline.explain(request)
        #expect(lookUps() == before)

        _ = try await fixture.pipeline.response(for: request)
        #expect(lookUps() > before)
    }

    @Test(
        "A picture that is being made is found, whether or not its client's request may ask other nodes",
        arguments: [false, true])
    func running(asksNodes: Bool) async throws {
        let renderer = GatedRenderer()
        let fixture = try PipelineFixture(renderer: renderer)
        fixture.origin.route("/a.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=60")]))
        let request = try fixture.request("/a.jpg", "transform=resize:30x20&format=png")
        let asked = asksNodes ? FetchContext.ForwardedRequest(target: "/img?url=x", accept: "") : nil
        let making = Task {
            try await fixture.pipeline.response(for: request, context: FetchContext(asked: asked))
        }
        await renderer.gate.arrival()

        let facts = await fixture.pipeline.explain(request)
        renderer.gate.open()

        #expect(facts.running.image)
        _ = try await making.value
        #expect(await fixture.pipeline.explain(request).running.image == false)
    }
}
