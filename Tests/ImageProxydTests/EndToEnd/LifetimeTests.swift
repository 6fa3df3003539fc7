// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Freshness
@testable import Primitives

@Suite("Lifetimes, from socket to socket")
struct LifetimeTests {
    @Test(
        "A picture without a lifetime from its origin is fresh for freshness.default, whatever its Last-Modified",
        arguments: [nil, 0, 39, 86_400 * 365] as [Int64?])
    func silentOrigin(secondsAgo: Int64?) async throws {
        let proxy = try await Proxy()
        let modified = secondsAgo.map { HTTPDate(seconds: SystemTime.seconds() - $0).description }
        proxy.origin.route(
            "/a.jpg", .body(Fixtures.photo, fields: modified.map { [("Last-Modified", $0)] } ?? []))

        let first = try await proxy.get(proxy.target("/a.jpg", "transform=resize:30x&format=png"))
        let second = try await proxy.get(proxy.target("/a.jpg", "transform=resize:30x&format=png"))

        #expect(first["Cache-Control"] == "public, max-age=86400")
        #expect(second["Cache-Status"]?.hasSuffix("; detail=memory") == true)
        #expect(proxy.origin.count("/a.jpg") == 1)
    }

    @Test("freshness.heuristic derives the lifetime from Last-Modified, within its bounds (RFC 9111 §4.2.2)")
    func heuristic() async throws {
        let proxy = try await Proxy(
            settings: #""freshness": {"heuristic": {"factor": 0.1, "minimum": "10m", "maximum": "2h"}}"#)
        for (path, secondsAgo) in [("/new.jpg", Int64(39)), ("/day.jpg", 36_000), ("/old.jpg", 86_400 * 99)] {
            let now = SystemTime.seconds()
            proxy.origin.route(
                path,
                .body(
                    Fixtures.photo,
                    fields: [
                        ("Date", HTTPDate(seconds: now).description),
                        ("Last-Modified", HTTPDate(seconds: now - secondsAgo).description),
                    ]))
        }
        proxy.origin.route("/silent.jpg", .body(Fixtures.photo))

        for (path, lifetime) in [
            ("/new.jpg", 600), ("/day.jpg", 3_600), ("/old.jpg", 7_200), ("/silent.jpg", 86_400),
        ] {
            #expect(
                try await proxy.get(proxy.target(path))["Cache-Control"] == "public, max-age=\(lifetime)")
        }
    }

    @Test("Browsers and shared caches each get their lifetime, on a miss and on hits from memory and disk")
    func bothLifetimes() async throws {
        let sent = "public, max-age=60, s-maxage=600, stale-while-revalidate=30, stale-if-error=90"
        for results in ["all", "disk"] {
            let proxy = try await Proxy(results: results)
            proxy.origin.route(
                "/a.jpg",
                .body(
                    Fixtures.photo,
                    fields: [
                        (
                            "Cache-Control",
                            "s-maxage=600, max-age=60, stale-while-revalidate=30, stale-if-error=90"
                        )
                    ]))
            let target = proxy.target("/a.jpg", "transform=resize:30x&format=png")
            for _ in 0..<3 { #expect(try await proxy.get(target)["Cache-Control"] == sent) }
            #expect(proxy.origin.count("/a.jpg") == 1)
        }
    }

    @Test(
        "The answer to a failure says whether its origin was asked, and with what status it answered (RFC 9211 §2)"
    )
    func failures() async throws {
        let proxy = try await Proxy(settings: "\"fetch\": {\"retries\": 0}")
        proxy.origin.route("/500", .status(500))
        proxy.origin.route("/text", .body(Array("no picture".utf8)))
        proxy.origin.route("/reset", OriginAnswer([.reset]))
        proxy.origin.route(
            "/gone", inTurn: [.body(Fixtures.photo, fields: [("Cache-Control", "max-age=0")]), .status(404)])
        _ = try await proxy.get(proxy.target("/gone"))

        let missing = try await proxy.get(proxy.target("/nothing"))
        let again = try await proxy.get(proxy.target("/nothing", "transform=resize:10x"))
        let gone = try await proxy.get(proxy.target("/gone"))
        let broken = try await proxy.get(proxy.target("/500"))
        let text = try await proxy.get(proxy.target("/text"))
        let reset = try await proxy.get(proxy.target("/reset"))
        let refused = try await proxy.get("/img?url=x")

        #expect(missing["Cache-Status"] == "imageproxyd; fwd=uri-miss; fwd-status=404; stored")
        #expect(again["Cache-Status"]?.hasPrefix("imageproxyd; hit; ttl=") == true)
        #expect(again["Cache-Status"]?.hasSuffix("; detail=failure") == true)
        #expect(gone["Cache-Status"] == "imageproxyd; fwd=stale; fwd-status=404; stored")
        #expect(broken["Cache-Status"] == "imageproxyd; fwd=uri-miss; fwd-status=500")
        #expect(text["Cache-Status"] == "imageproxyd; fwd=uri-miss; fwd-status=200; stored")
        #expect(reset["Cache-Status"]?.hasPrefix("imageproxyd; fwd=uri-miss") == true)
        #expect(reset["Cache-Status"]?.contains("fwd-status") == false)
        #expect(refused["Cache-Status"] == nil)
    }

    @Test("The answer to a request that joined another's task says so (RFC 9211 §2.7)")
    func collapsedFailure() async throws {
        let proxy = try await Proxy()
        let gate = OriginGate()
        proxy.origin.route("/missing", OriginAnswer.status(404).held(by: gate))
        let targets = ["20x", "30x"].map { proxy.target("/missing", "transform=resize:\($0)&format=png") }

        async let first = proxy.get(targets[0])
        await proxy.origin.waitForRequests("/missing", count: 1)
        async let second = proxy.get(targets[1])
        while try await proxy.metric(Self.joined) < 1 { await Task.yield() }
        gate.open()
        let said = try await [first, second].compactMap { $0["Cache-Status"] }

        let asked = "imageproxyd; fwd=uri-miss; fwd-status=404; stored"
        #expect(said == [asked, asked + "; collapsed"])
        #expect(proxy.origin.count("/missing") == 1)
    }

    private static let joined = "imageproxyd_coalesced_requests_total{task=\"fetch\"}"
}
