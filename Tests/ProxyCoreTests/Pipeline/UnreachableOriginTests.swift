// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import ProxyCore

@Suite("An origin that can't be reached, with a clock in hand")
struct UnreachableOriginTests {
    @Test("is left alone after five failures, served stale where it may be, and asked again by one probe")
    func breaker() async throws {
        // So long that it does not pass by itself, however busy the machine.
        var failedURLs = FailedURLsConfiguration()
        failedURLs.breaker.pause = .seconds(600)
        failedURLs.breaker.maximum = .seconds(600)
        let fixture = try PipelineFixture(failedURLs: failedURLs)
        fixture.origin.route(
            "/a.jpg",
            // Closed at its end: on a connection used before, libcurl would ask once more by itself.
            inTurn: [.untilClose(Fixtures.photo, fields: [("Cache-Control", "max-age=60")])]
                + Array(repeating: OriginAnswer([.reset]), count: 5)
                + [.body(Fixtures.photo(number: 2), fields: [("Cache-Control", "max-age=60")])])
        _ = try await fixture.get("/a.jpg")
        fixture.clock.advance(by: 100)

        for _ in 0..<5 {
            let answer = try await fixture.get("/a.jpg")
            #expect(answer.provenance == .stale(.onError(.upstreamUnreachable, wasAsked: true)))
        }
        let refused = try await fixture.get("/a.jpg")
        let elsewhere = await #expect(throws: PipelineError.self) { try await fixture.get("/b.jpg") }
        #expect(fixture.failures.openHosts == 1)
        #expect(fixture.origin.log.requests.count == 6)
        fixture.clock.advance(by: 600)
        let back = try await fixture.get("/a.jpg")

        guard case .stale(.onError(.hostUnavailable, wasAsked: false)) = refused.provenance else {
            Issue.record("\(refused.provenance)")
            return
        }
        #expect(elsewhere?.disposition.code == "host_unavailable")
        #expect((1...600).contains(elsewhere?.retryAfter ?? 0))
        #expect(try back.bytes == Fixtures.photo(number: 2))
        #expect(fixture.failures.openHosts == 0)
    }

    @Test("is not one that others redirect to once they have used the time up, for one client alone either")
    func redirectedTo() async throws {
        let fixture = try PipelineFixture(totalTimeout: .milliseconds(500))
        let victim = try FakeOrigin()
        victim.route("/", .silence)
        let redirect = OriginAnswer.head(302, [("Location", victim.url("/")), ("Content-Length", "0")])
        fixture.origin.route(
            "/a",
            OriginAnswer([.trickle(redirect, piece: redirect.count, everyMilliseconds: 480), .stall]))
        let request = try fixture.request("/a")

        for _ in 0..<5 {
            await #expect(throws: PipelineError.self) {
                try await fixture.pipeline.unsharedAnswer(
                    for: request, cookies: ["who=ada"], streaming: .nothing)
            }
        }

        let hosts = fixture.failures.hosts
        #expect(throws: PipelineError.self) {
            try hosts.admit(SourceURL(parsing: fixture.origin.url("/")).origin, at: fixture.clock.now)
        }
        _ = try hosts.admit(SourceURL(parsing: victim.url("/")).origin, at: fixture.clock.now)
    }

    @Test(
        "a remembered failure is listed by its URL, tried again on demand, and forgotten when that succeeds")
    func retryFailed() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route("/a.jpg", inTurn: [.status(404), .status(404), .body(Fixtures.photo)])
        var client = RequestDirectives()
        client.retryFailed = true
        let request = try fixture.request("/a.jpg")

        for _ in 0..<2 {
            await #expect(throws: PipelineError.upstreamNotFound(status: 404)) {
                try await fixture.get("/a.jpg")
            }
        }
        #expect(fixture.origin.count("/a.jpg") == 1)
        let listed = fixture.failures.list(limit: 9, at: fixture.clock.now)
        #expect(listed.map(\.text) == [fixture.origin.url("/a.jpg")])
        await #expect(throws: PipelineError.upstreamNotFound(status: 404)) {
            try await fixture.pipeline.response(for: request, asking: client)
        }
        _ = try await fixture.pipeline.response(for: request, asking: client)

        #expect(fixture.origin.count("/a.jpg") == 3)
        #expect(fixture.failures.list(limit: 9, at: fixture.clock.now).isEmpty)
    }
}
