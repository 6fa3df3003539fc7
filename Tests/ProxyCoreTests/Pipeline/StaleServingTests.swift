// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Freshness
@testable import Observability
@testable import Origins
@testable import Pipeline
@testable import Primitives
@testable import Request

@Suite("Stale pictures, with a real origin and an injected clock")
struct StaleServingTests {
    private static let whileRevalidating = [
        ("Cache-Control", "max-age=60, stale-while-revalidate=600"), ("ETag", "\"1\""),
    ]
    private static let resize = "transform=resize:30x20&format=png"

    @Test(
        "A stale picture is answered at once while one refresh runs, and a 304 keeps the result (RFC 5861 §3)"
    )
    func whileRevalidating() async throws {
        let fixture = try PipelineFixture()
        let gate = OriginGate()
        let answer = OriginAnswer.validated(Fixtures.photo, entityTag: "\"1\"", fields: Self.control)
        fixture.origin.route("/a.jpg") { request in
            request["if-none-match"] == nil ? answer(request) : answer(request).held(by: gate)
        }
        let first = try await fixture.get("/a.jpg", Self.resize)
        fixture.clock.advance(by: 100)

        var answers: [ImageResponse] = []
        for _ in 0..<20 { answers.append(try await fixture.get("/a.jpg", Self.resize)) }
        await fixture.origin.waitForRequests("/a.jpg", count: 2)
        gate.open()
        await fixture.refreshed()
        let later = try await fixture.get("/a.jpg", Self.resize)

        #expect(answers.allSatisfy { $0.provenance == .stale(.whileRevalidating) })
        #expect(try answers[0].bytes == first.bytes)
        #expect(fixture.origin.count("/a.jpg") == 2)
        #expect(later.entry != nil)
        #expect(later.record.reuse.responseTime >= first.record.reuse.responseTime)
        #expect(fixture.metrics.transforms.value(LabelPair(.png, .ok)) == 1)
    }

    private static let control = [("Cache-Control", "max-age=60, stale-while-revalidate=600")]

    @Test(
        "A refresh that the origin refuses because of a dropped parameter pauses that URL, and no other client's"
    )
    func droppedParameter() async throws {
        var freshness = FreshnessConfiguration()
        freshness.refreshPause = .hours(1)
        let fixture = try PipelineFixture(freshness: freshness)
        var rule = OriginRuleConfiguration()
        rule.match = ["http://*"]
        rule.cacheKey = .init()
        rule.cacheKey?.dropQuery = ["sig"]
        let rules = try OriginRules([rule], secrets: .checking)
        let good = OriginAnswer.body(Fixtures.photo, fields: Self.control)
        let bad = OriginAnswer.status(403, fields: [("Cache-Control", "no-store")])
        fixture.origin.route("/a.jpg") { $0.target == "/a.jpg?sig=good" ? good : bad }
        func ask(_ signature: String) async throws -> ImageResponse {
            try await fixture.pipeline.response(
                for: fixture.request("/a.jpg?sig=\(signature)", Self.resize, rules: rules))
        }
        _ = try await ask("good")
        fixture.clock.advance(by: 100)

        let stale = try await ask("bad")
        await fixture.origin.waitForRequests("/a.jpg", count: 2)
        await fixture.refreshed()
        let again = try await ask("bad")
        await fixture.refreshed()
        let other = try await ask("good")
        await fixture.origin.waitForRequests("/a.jpg", count: 3)
        await fixture.refreshed()

        #expect([stale, again, other].allSatisfy { $0.provenance == .stale(.whileRevalidating) })
        #expect(
            fixture.origin.log.requests.map(\.target) == ["good", "bad", "good"].map { "/a.jpg?sig=\($0)" })
    }

    @Test(
        "A refresh that is refused because of the client that caused it pauses the source for no other client"
    )
    func refusedForClient() async throws {
        let fixture = try PipelineFixture()
        let contexts = [1, 2].map { FetchContext(client: ClientID(v4: $0)) }
        fixture.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.control))
        fixture.origin.route("/429.jpg", .status(429, fields: [("Cache-Control", "no-store")]))
        _ = try await fixture.get("/a.jpg", Self.resize)
        fixture.clock.advance(by: 100)
        while true {
            let error = await #expect(throws: PipelineError.self) {
                try await fixture.get("/429.jpg", context: contexts[0])
            }
            if error?.isClientPaused ?? true { break }
        }

        for context in contexts {
            _ = try await fixture.get("/a.jpg", Self.resize, context: context)
            await fixture.refreshed()
        }

        #expect(fixture.origin.count("/a.jpg") == 2)
    }

    @Test("A refresh that returns other bytes replaces the picture, and no request waits for it")
    func changed() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route(
            "/a.jpg",
            inTurn: [
                .body(Fixtures.photo(number: 1), fields: Self.whileRevalidating),
                .body(Fixtures.photo(number: 2), fields: [("Cache-Control", "max-age=6000")]),
            ])
        let first = try await fixture.get("/a.jpg")
        fixture.clock.advance(by: 100)

        let stale = try await fixture.get("/a.jpg")
        await fixture.refreshed()
        let fresh = try await fixture.get("/a.jpg")

        #expect(try stale.bytes == first.bytes)
        #expect(stale.provenance == .stale(.whileRevalidating))
        #expect(try fresh.bytes == Fixtures.photo(number: 2))
        #expect(fresh.provenance == .memory)
        #expect(fixture.origin.count("/a.jpg") == 2)
    }

    @Test(
        "One refresh sends one request to the origin, however short the new lifetime is",
        arguments: [
            ("no-cache", true), ("max-age=0", true), ("no-store", false), ("private", false),
        ])
    func refreshedOnce(control: String, isKept: Bool) async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route(
            "/a.jpg",
            inTurn: [
                .body(Fixtures.photo(number: 1), fields: Self.whileRevalidating),
                .body(Fixtures.photo(number: 2), fields: [("Cache-Control", control)]),
            ])
        _ = try await fixture.get("/a.jpg", Self.resize)
        fixture.clock.advance(by: 100)

        let stale = try await fixture.get("/a.jpg", Self.resize)
        await fixture.refreshed()

        #expect(stale.provenance == .stale(.whileRevalidating))
        #expect(fixture.origin.count("/a.jpg") == 2)
        // What may be stored is made from what was fetched; what may not is made when a client requests it.
        #expect(fixture.metrics.transforms.value(LabelPair(.png, .ok)) == (isKept ? 2 : 1))
    }

    @Test("A refresh that returns the same bytes keeps the result without another transform")
    func equalBytes() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route("/a.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=60")]))
        let first = try await fixture.get("/a.jpg", Self.resize)
        fixture.clock.advance(by: 100)

        let second = try await fixture.get("/a.jpg", Self.resize)

        #expect(second.provenance == .fetched(.stale))
        #expect(try second.bytes == first.bytes)
        #expect(fixture.metrics.transforms.value(LabelPair(.png, .ok)) == 1)
    }

    @Test(
        "Beyond its stale window a picture is not answered before the origin has answered (RFC 9111 §4.2.4)")
    func beyondGrace() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route(
            "/a.jpg", OriginAnswer.validated(Fixtures.photo, entityTag: "\"1\"", fields: Self.control))
        _ = try await fixture.get("/a.jpg")
        fixture.clock.advance(by: 900)

        #expect(try await fixture.get("/a.jpg").provenance == .revalidated(.stale))
    }

    @Test(
        "A stale picture replaces every failure of the origin or of the way to it, for a time (RFC 5861 §4)")
    func onError() async throws {
        let fixture = try PipelineFixture()
        for (path, failure) in [
            ("/500", OriginAnswer.status(500)), ("/503", .status(503)), ("/429", .status(429)),
            ("/cut", .truncated(Array(Fixtures.photo.prefix(99)), declaring: 9_999)),
            ("/reset", OriginAnswer([.reset])),
        ] {
            fixture.origin.route(
                path,
                inTurn: [
                    .body(Fixtures.photo, fields: [("Cache-Control", "max-age=60, stale-if-error=600")]),
                    failure,
                ])
            _ = try await fixture.get(path)
        }

        fixture.clock.advance(by: 100)
        for path in ["/500", "/503", "/429", "/cut", "/reset"] {
            let answer = try await fixture.get(path)
            guard case .stale(.onError(_, wasAsked: true)) = answer.provenance else {
                Issue.record("\(path): \(answer.provenance)")
                continue
            }
            #expect(try answer.bytes == Fixtures.photo)
        }
        fixture.clock.advance(by: 600)
        await #expect(throws: PipelineError.upstreamStatus(500, retryAfter: nil)) {
            try await fixture.get("/500")
        }
    }

    @Test(
        "Whether the origin was asked is said of the requests that name the same proxies; what refuses one that names none refuses all"
    )
    func onErrorBehindProxies() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route(
            "/a",
            inTurn: [
                .body(Fixtures.photo, fields: [("Cache-Control", "max-age=60, stale-if-error=600")]),
                .status(503, fields: [("Retry-After", "60")]),
            ])
        _ = try await fixture.get("/a")
        fixture.clock.advance(by: 100)

        for (via, wasAsked) in [
            ("1.1 a", true), ("1.1 a", false), (nil, true), (nil, false), ("1.1 b", false),
        ] {
            let answer = try await fixture.get("/a", context: FetchContext(via: via))
            guard case .stale(.onError(_, wasAsked)) = answer.provenance else {
                Issue.record("\(via ?? "no proxy"): \(answer.provenance)")
                continue
            }
        }
        #expect(fixture.origin.count("/a") == 3)
    }

    @Test(
        "A stale picture never replaces an error if the origin forbids it (RFC 9111 §5.2.2.2, §5.2.2.8, §5.2.2.10)"
    )
    func mustRevalidate() async throws {
        let fixture = try PipelineFixture()
        for control in [
            "max-age=60, must-revalidate", "max-age=60, proxy-revalidate", "s-maxage=60", "no-cache",
        ] {
            fixture.origin.route(
                "/a",
                inTurn: [
                    .body(Fixtures.photo, fields: [("Cache-Control", control + ", stale-if-error=600")]),
                    .status(500),
                ])
            _ = try await fixture.get("/a?\(control.hashValue)")
            fixture.clock.advance(by: 100)

            await #expect(throws: PipelineError.upstreamStatus(500, retryAfter: nil), "\(control)") {
                try await fixture.get("/a?\(control.hashValue)")
            }
        }
    }

    @Test("A stale picture is removed when the origin no longer has it, or forbids storing")
    func gone() async throws {
        let fixture = try PipelineFixture()
        let keep = [("Cache-Control", "max-age=60, stale-if-error=600")]
        fixture.origin.route(
            "/gone", inTurn: [.body(Fixtures.photo, fields: keep), .status(410), .status(500)])
        fixture.origin.route(
            "/secret",
            inTurn: [
                .body(Fixtures.photo, fields: keep),
                .body(Fixtures.photo, fields: [("Cache-Control", "private")]),
                .status(500),
            ])
        _ = try await (fixture.get("/gone"), fixture.get("/secret"))
        fixture.clock.advance(by: 100)

        await #expect(throws: PipelineError.upstreamNotFound(status: 410)) { try await fixture.get("/gone") }
        _ = try await fixture.get("/secret")
        fixture.clock.advance(by: 400)

        await #expect(throws: PipelineError.upstreamStatus(500, retryAfter: nil)) {
            try await fixture.get("/gone")
        }
        await #expect(throws: PipelineError.upstreamStatus(500, retryAfter: nil)) {
            try await fixture.get("/secret")
        }
    }

    @Test("After a 304 for another picture the full one is fetched (RFC 9111 §4.3.4)")
    func foreignConfirmation() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route("/a.jpg") { request in
            request["if-none-match"] == nil
                ? .body(Fixtures.photo, fields: [("ETag", "\"1\""), ("Cache-Control", "max-age=60")])
                : .status(304, fields: [("ETag", "\"2\"")])
        }
        _ = try await fixture.get("/a.jpg")
        fixture.clock.advance(by: 100)

        #expect(try await fixture.get("/a.jpg").provenance == .fetched(.stale))
        #expect(fixture.origin.count("/a.jpg") == 3)
    }

    @Test("A failed refresh is not retried at once, and the stale picture stays")
    func failedRefresh() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route(
            "/a.jpg", inTurn: [.body(Fixtures.photo, fields: Self.whileRevalidating), .status(500)])
        _ = try await fixture.get("/a.jpg")
        fixture.clock.advance(by: 100)

        for _ in 0..<3 {
            #expect(try await fixture.get("/a.jpg").provenance == .stale(.whileRevalidating))
            await fixture.refreshed()
        }
        #expect(fixture.origin.count("/a.jpg") == 2)
        fixture.clock.advance(by: 5)
        _ = try await fixture.get("/a.jpg")
        await fixture.origin.waitForRequests("/a.jpg", count: 3)
    }

    @Test("A picture is stale no later than the redirect that led to it")
    func redirected() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route(
            "/a", .status(302, fields: [("Location", "/b.jpg"), ("Cache-Control", "max-age=10")]))
        fixture.origin.route("/b.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=600")]))
        let first = try await fixture.get("/a")
        fixture.clock.advance(by: 20)

        #expect(first.record.reuse.freshnessLifetime == 10)
        #expect(try await fixture.get("/a").provenance == .fetched(.stale))
    }
}
