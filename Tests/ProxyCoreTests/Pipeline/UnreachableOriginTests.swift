// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Cache
@testable import Freshness
@testable import Pipeline
@testable import Primitives
@testable import Tracing

@Suite("An unreachable origin, with an injected clock")
struct UnreachableOriginTests {
    @Test(
        "After five failures to connect an origin gets no requests, stale pictures are served, and a probe requests again"
    )
    func breaker() async throws {
        // So long that it does not expire by itself, however busy the machine.
        var failedURLs = FailedURLsConfiguration()
        failedURLs.breaker.pause = .seconds(600)
        failedURLs.breaker.maximum = .seconds(600)
        let fixture = try PipelineFixture(failedURLs: failedURLs)
        fixture.origin.route("/a.jpg", .untilClose(Fixtures.photo, fields: [("Cache-Control", "max-age=60")]))
        _ = try await fixture.get("/a.jpg")
        fixture.clock.advance(by: 100)
        fixture.origin.stop()
        await fixture.origin.waitUntilStopped()

        for _ in 0..<5 {
            let answer = try await fixture.get("/a.jpg")
            #expect(answer.provenance == .stale(.onError(.upstreamUnreachable, wasAsked: true)))
        }
        let refused = try await fixture.get("/a.jpg")
        let elsewhere = await #expect(throws: PipelineError.self) { try await fixture.get("/b.jpg") }
        #expect(fixture.failures.hosts.openCount == 1)
        fixture.clock.advance(by: 600)
        let probe = try await fixture.get("/a.jpg")
        let after = try await fixture.get("/a.jpg")

        for answer in [refused, after] {
            guard case .stale(.onError(let failure, wasAsked: false)) = answer.provenance,
                failure.row.code == "host_unavailable"
            else {
                Issue.record("\(answer.provenance)")
                continue
            }
        }
        #expect(elsewhere?.row.code == "host_unavailable")
        #expect((1...600).contains(elsewhere?.retryAfter ?? 0))
        #expect(probe.provenance == .stale(.onError(.upstreamUnreachable, wasAsked: true)))
    }

    @Test("A fetch that is refused before the origin is asked is part of the trace")
    func traced() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.stop()
        await fixture.origin.waitUntilStopped()
        for number in 0..<5 {
            await #expect(throws: PipelineError.self) { try await fixture.get("/\(number)") }
        }
        let spans = SpanQueue(maxSpans: 10, batch: 10)
        let trace = Tracer(sampler: .init(), queue: spans).begin(nil, at: Trace.now, epoch: 0)

        await #expect(throws: PipelineError.self) {
            try await fixture.get("/a.jpg", context: FetchContext(trace: trace))
        }

        let fetch = try #require(spans.take().first { $0.name == "fetch" })
        #expect(fetch.attributes == [Span.Attribute("error.type", .string("host_unavailable"))])
    }

    @Test(
        "An origin that closes connections for some URLs is not unreachable, however many they are and for however many clients"
    )
    func disconnected() async throws {
        let fixture = try PipelineFixture()
        for number in 0..<24 { fixture.origin.route("/\(number)", OriginAnswer([.reset])) }
        fixture.origin.route("/good.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "no-store")]))

        for number in 0..<24 {
            let context = FetchContext(client: ClientID(v4: UInt32(number % 4)))
            await #expect(throws: PipelineError.upstreamDisconnected) {
                try await fixture.get("/\(number)", context: context)
            }
        }

        #expect(try await fixture.get("/good.jpg").bytes == Fixtures.photo)
        #expect(fixture.failures.hosts.openCount == 0)
    }

    @Test(
        "An origin that does not answer for some URLs is not unreachable, and those are not retried at once, for any client"
    )
    func silent() async throws {
        let fixture = try PipelineFixture()
        for number in 0..<8 { fixture.origin.route("/\(number)", .silence) }

        for number in 0..<8 {
            for client in 1...3 {
                let context = FetchContext(client: ClientID(v4: UInt32(client)))
                let answer = Task { try await fixture.get("/\(number)", context: context) }
                if client == 1 { await fixture.timeOut("/\(number)") }
                await #expect(throws: PipelineError.upstreamTimeout) { try await answer.value }
            }
            #expect(fixture.origin.count("/\(number)") == 1)
        }

        #expect(fixture.failures.hosts.openCount == 0)
        fixture.clock.advance(by: 10)
        let answer = Task { try await fixture.get("/0") }
        await fixture.timeOut("/0", count: 2)
        await #expect(throws: PipelineError.upstreamTimeout) { try await answer.value }
    }

    @Test("A URL for which the connection ended is requested again after a while")
    func recovered() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route("/a.jpg", inTurn: [OriginAnswer([.reset]), .body(Fixtures.photo)])
        for _ in 0..<3 {
            await #expect(throws: PipelineError.upstreamDisconnected) { try await fixture.get("/a.jpg") }
        }
        #expect(fixture.origin.count("/a.jpg") == 1)

        fixture.clock.advance(by: 10)

        #expect(try await fixture.get("/a.jpg").bytes == Fixtures.photo)
    }

    @Test(
        "A remembered failure is listed by its URL, retried on demand, and removed by a success")
    func retryFailed() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route("/a.jpg", inTurn: [.status(404), .status(404), .body(Fixtures.photo)])
        var directives = RequestDirectives()
        directives.retryFailed = true
        let request = try fixture.request("/a.jpg")

        for _ in 0..<2 {
            await #expect(throws: PipelineError.upstreamNotFound(status: 404)) {
                try await fixture.get("/a.jpg")
            }
        }
        #expect(fixture.origin.count("/a.jpg") == 1)
        let listed = fixture.failures.list(limit: 9, at: fixture.clock.now.seconds)
        #expect(listed.map(\.text) == [fixture.origin.url("/a.jpg")])
        await #expect(throws: PipelineError.upstreamNotFound(status: 404)) {
            try await fixture.pipeline.response(for: request, directives: directives)
        }
        _ = try await fixture.pipeline.response(for: request, directives: directives)

        #expect(fixture.origin.count("/a.jpg") == 3)
        #expect(fixture.failures.list(limit: 9, at: fixture.clock.now.seconds).isEmpty)
    }
}
