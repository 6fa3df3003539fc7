// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Freshness
@testable import Origins
@testable import Pipeline

@Suite("Clients' cache directives, with a real origin and an injected clock")
struct ClientDirectiveTests {
    private static let fields = [("Cache-Control", "max-age=60")]

    private func fixture() async throws -> PipelineFixture {
        let fixture = try PipelineFixture()
        fixture.origin.route(
            "/a.jpg", OriginAnswer.validated(Fixtures.photo, entityTag: "\"1\"", fields: Self.fields))
        _ = try await fixture.get("/a.jpg")
        return fixture
    }

    @Test("no-cache fetches anew, and stores the result (RFC 9111 §5.2.1.4)")
    func noCache() async throws {
        let fixture = try await fixture()

        #expect(try await fixture.get("/a.jpg", asking: "no-cache").provenance == .fetched(.request))
        #expect(fixture.origin.log.requests.last?["if-none-match"] == nil)
        #expect(try await fixture.get("/a.jpg").provenance == .memory)
        #expect(fixture.origin.count("/a.jpg") == 2)
    }

    @Test("max-age and min-fresh revalidate an older copy (RFC 9111 §5.2.1.1, §5.2.1.3)")
    func narrower() async throws {
        let fixture = try await fixture()
        fixture.clock.advance(by: 30)

        #expect(try await fixture.get("/a.jpg", asking: "max-age=40, min-fresh=20").provenance == .memory)
        #expect(try await fixture.get("/a.jpg", asking: "max-age=10").provenance == .revalidated(.request))
        #expect(try await fixture.get("/a.jpg", asking: "min-fresh=50").provenance == .revalidated(.request))
        #expect(try await fixture.get("/a.jpg", asking: "max-age=0").provenance == .revalidated(.request))
    }

    @Test("max-stale accepts a stale copy without revalidation (RFC 9111 §5.2.1.2)")
    func maxStale() async throws {
        let fixture = try await fixture()
        fixture.clock.advance(by: 100)

        #expect(try await fixture.get("/a.jpg", asking: "max-stale=60").provenance == .stale(.asClientAllows))
        #expect(try await fixture.get("/a.jpg", asking: "max-stale").provenance == .stale(.asClientAllows))
        #expect(fixture.origin.count("/a.jpg") == 1)
        #expect(try await fixture.get("/a.jpg", asking: "max-stale=10").provenance == .revalidated(.stale))
    }

    @Test("only-if-cached requests nothing from an origin, whatever is missing (RFC 9111 §5.2.1.7)")
    func onlyIfCached() async throws {
        let fixture = try await fixture()

        #expect(try await fixture.get("/a.jpg", asking: "only-if-cached").provenance == .memory)
        let small = "transform=resize:9x9&format=png"
        #expect(
            try await fixture.get("/a.jpg", small, asking: "only-if-cached").provenance == .stored)
        await #expect(throws: PipelineError.notCached) {
            try await fixture.get("/b.jpg", asking: "only-if-cached")
        }
        fixture.clock.advance(by: 100)
        await #expect(throws: PipelineError.notCached) {
            try await fixture.get("/a.jpg", asking: "only-if-cached")
        }
        #expect(fixture.origin.log.requests.count == 1)
    }

    @Test("no-store does not store the answer, but a stored one may be used (RFC 9111 §5.2.1.5)")
    func noStore() async throws {
        let fixture = try await fixture()
        fixture.origin.route("/b.jpg", .body(Fixtures.photo, fields: Self.fields))

        #expect(try await fixture.get("/a.jpg", asking: "no-store").provenance == .memory)
        let first = try await fixture.get("/b.jpg", asking: "no-store")
        #expect(!first.isStored)
        #expect(try await fixture.get("/b.jpg").provenance == .fetched(.missing))
        #expect(fixture.origin.count("/b.jpg") == 2)
    }

    @Test("A failing origin gives no stale copy to a client that sends no-cache")
    func noCacheAndError() async throws {
        let fixture = try await fixture()
        fixture.origin.route("/a.jpg", .status(500))

        await #expect(throws: PipelineError.upstreamStatus(500, retryAfter: nil)) {
            try await fixture.get("/a.jpg", asking: "no-cache")
        }
        #expect(try await fixture.get("/a.jpg", asking: "max-age=0").record.reuse.freshnessLifetime == 60)
    }

    @Test(
        "A private response is sent to those that waited when its head came, and to no later request",
        .timeLimit(.minutes(20)), arguments: [false, true])
    func unshareable(isEncodedAnew: Bool) async throws {
        let fixture = try PipelineFixture()
        var rule = OriginRuleConfiguration()
        rule.match = ["http://*"]
        rule.reencode = isEncodedAnew
        let rules = try OriginRules([rule], secrets: .checking)
        let gate = OriginGate()
        let head = OriginAnswer.head(
            200, [("Content-Length", "\(Fixtures.photo.count)"), ("Cache-Control", "private, max-age=60")])
        fixture.origin.route(
            "/a.jpg",
            inTurn: [
                OriginAnswer([
                    .send(head + Fixtures.photo.prefix(10)), .wait(gate),
                    .send(Array(Fixtures.photo.dropFirst(10))),
                ]),
                .body(Fixtures.photo(number: 2), fields: [("Cache-Control", "private")]),
            ])
        let request = try fixture.request("/a.jpg", rules: rules)
        async let first = fixture.pipeline.response(for: request)
        await fixture.origin.waitForRequests("/a.jpg")
        while fixture.pipeline.taskCounts.fetches > 0 { await Task.yield() }

        let second = try await fixture.pipeline.response(for: request)
        gate.open()

        let (early, late) = (try await first.bytes, try second.bytes)
        // Both files hold the same picture, so encoded anew they are equal; a request that joins never gets here.
        if !isEncodedAnew { #expect((early, late) == (Fixtures.photo, Fixtures.photo(number: 2))) }
        #expect(fixture.origin.count("/a.jpg") == 2)
    }
}
