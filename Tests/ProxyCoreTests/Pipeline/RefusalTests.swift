// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Freshness
@testable import Observability
@testable import Pipeline
@testable import Primitives

@Suite("An origin's errors, with an injected clock")
struct RefusalTests {
    @Test(
        "Errors that forbid reuse are requested again (RFC 9111 §3, §4.2)",
        arguments: [404, 410, 403, 451, 204, 301],
        [
            [("Cache-Control", "no-store")], [("Cache-Control", "no-cache")],
            [("Cache-Control", "max-age=0")],
            [("Expires", "0")], [("Cache-Control", "max-age=30"), ("Age", "30")],
        ])
    func forbidden(status: Int, fields: [(String, String)]) async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route(
            "/a.jpg", inTurn: [.status(status, fields: fields), .body(Fixtures.photo)])

        await #expect(throws: PipelineError.self) { try await fixture.get("/a.jpg") }

        #expect(try await fixture.get("/a.jpg").bytes == Fixtures.photo)
        #expect(fixture.origin.count("/a.jpg") == 2)
    }

    @Test("Errors are remembered no longer than they say (RFC 9111 §4.2)")
    func limited() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route(
            "/a.jpg",
            inTurn: [.status(404, fields: [("Cache-Control", "max-age=10")]), .body(Fixtures.photo)])
        let gone = PipelineError.upstreamNotFound(status: 404)

        await #expect(throws: gone) { try await fixture.get("/a.jpg") }
        await #expect(throws: gone) { try await fixture.get("/a.jpg") }
        #expect(fixture.origin.count("/a.jpg") == 1)
        fixture.clock.advance(by: 10)

        #expect(try await fixture.get("/a.jpg").bytes == Fixtures.photo)
    }

    @Test(
        "Errors are remembered no longer than their class says, and exactly so long without a lifetime"
    )
    func bounded() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route(
            "/a.jpg",
            inTurn: [.status(404, fields: [("Cache-Control", "max-age=86400")]), .body(Fixtures.photo)])
        fixture.origin.route("/b.jpg", inTurn: [.status(404), .body(Fixtures.photo)])
        for path in ["/a.jpg", "/b.jpg"] {
            for _ in 0..<2 {
                await #expect(throws: PipelineError.self) { try await fixture.get(path) }
            }
            #expect(fixture.origin.count(path) == 1)
        }
        fixture.clock.advance(by: 300)

        for path in ["/a.jpg", "/b.jpg"] { #expect(try await fixture.get(path).bytes == Fixtures.photo) }
    }

    @Test("An error's own lifetime counts only where origins' lifetimes do")
    func unheard() async throws {
        var freshness = FreshnessConfiguration()
        freshness.respectOrigin = false
        let fixture = try PipelineFixture(freshness: freshness)
        fixture.origin.route("/a.jpg", .status(404, fields: [("Cache-Control", "no-store")]))

        for _ in 0..<2 {
            await #expect(throws: PipelineError.self) { try await fixture.get("/a.jpg") }
        }

        #expect(fixture.origin.count("/a.jpg") == 1)
    }

    @Test(
        "Retry-After pauses requests for the URL for that time, or a stale copy is served",
        arguments: [429, 503])
    func honoursRetryAfter(status: Int) async throws {
        let fixture = try PipelineFixture()
        let refusal = OriginAnswer.status(
            status, fields: [("Retry-After", "30"), ("Cache-Control", "no-store")])
        fixture.origin.route("/a.jpg", inTurn: [refusal, .body(Fixtures.photo)])
        fixture.origin.route(
            "/b.jpg", inTurn: [.body(Fixtures.photo, fields: [("Cache-Control", "max-age=60")]), refusal])
        fixture.origin.route("/c.jpg", .body(Fixtures.photo))
        _ = try await fixture.get("/b.jpg")
        fixture.clock.advance(by: 100)

        for elapsed in [0, 10, 15] as [Int64] {
            fixture.clock.advance(by: elapsed)
            for _ in 0..<6 {
                let error = await #expect(throws: PipelineError.self) { try await fixture.get("/a.jpg") }
                #expect(error?.upstreamStatus == status)
                guard case .stale(.onError) = try await fixture.get("/b.jpg").provenance else {
                    Issue.record("no stale copy")
                    continue
                }
            }
        }
        let last = await #expect(throws: PipelineError.self) { try await fixture.get("/a.jpg") }
        #expect(last?.retryAfter == 5)
        #expect(fixture.origin.count("/a.jpg") == 1)
        #expect(fixture.origin.count("/b.jpg") == 2)
        #expect(
            try await fixture.get("/c.jpg").bytes == Fixtures.photo, "another URL of the host is requested")
        fixture.clock.advance(by: 5)
        #expect(try await fixture.get("/a.jpg").bytes == Fixtures.photo)
    }

    @Test(
        "429 for several URLs in a row pauses the host for the client that sent the requests, and for no other"
    )
    func tooMany() async throws {
        let fixture = try PipelineFixture()
        for number in 0..<20 {
            fixture.origin.route("/\(number)", .status(429, fields: [("Retry-After", "86400")]))
        }
        fixture.origin.route("/good.jpg", .body(Fixtures.photo))
        let (one, other) = (FetchContext(client: ClientID(v4: 1)), FetchContext(client: ClientID(v4: 2)))

        for number in 0..<20 {
            await #expect(throws: PipelineError.self) { try await fixture.get("/\(number)", context: one) }
        }
        let error = await #expect(throws: PipelineError.self) {
            try await fixture.get("/good.jpg", context: one)
        }
        #expect(error?.row.code == "host_unavailable")
        #expect((1...60).contains(error?.retryAfter ?? 0))
        #expect(fixture.origin.log.requests.count == 5)
        #expect(try await fixture.get("/good.jpg", context: other).bytes == Fixtures.photo)
    }

    @Test("A fetch whose short body turns out to be no picture counts once")
    func counted() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route("/a.jpg", .body(Array("no picture".utf8)))

        await #expect(throws: PipelineError.self) { try await fixture.get("/a.jpg") }

        #expect(Metric.Fetch.allCases.reduce(0) { $0 + fixture.metrics.fetches.value($1) } == 1)
    }
}
