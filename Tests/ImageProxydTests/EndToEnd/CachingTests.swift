// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Freshness
@testable import Primitives

/// Time passes at the origin: what it sends has an `Age`, so that it is received as old as a test requires.
@Suite("Caching, from socket to socket")
struct CachingTests {
    private static let resize = "transform=resize:30x20&format=png"
    private static let trusting = "\"freshness\": {\"clientDirectives\": true}"

    private func photo(_ control: String, age: Int = 0, number: Int = 0, more: [(String, String)] = [])
        -> OriginAnswer
    {
        .body(Fixtures.photo(number: number), fields: [("Cache-Control", control), ("Age", "\(age)")] + more)
    }

    @Test(
        "An original that is stored only in memory is answered from memory, and Cache-Status says so (RFC 9211 §2.8)"
    )
    func originalInMemory() async throws {
        let proxy = try await Proxy(results: "none", environment: ["IMAGEPROXYD_CACHE_ORIGINALS=memory"])
        proxy.origin.route("/a.jpg", photo("max-age=600"))
        _ = try await proxy.get(proxy.target("/a.jpg"))

        let again = try await proxy.get(proxy.target("/a.jpg"))

        #expect(again["Cache-Status"]?.hasSuffix("; detail=memory") == true)
        #expect(proxy.origin.count("/a.jpg") == 1)
    }

    @Test(
        "The line of a hit in memory names the source as log.url says, also of a 304 and of a stale picture",
        arguments: [
            ("none", ""), ("host", " url_host=127.0.0.1 url_port=PORT"),
            ("full", " url_host=127.0.0.1 url_port=PORT url=\"http://127.0.0.1:PORT/a.jpg?token=***&w=9\""),
        ])
    func loggedHits(level: String, said: String) async throws {
        let proxy = try await Proxy(settings: "\"log\": {\"url\": \"\(level)\"}")
        proxy.origin.route("/a.jpg", photo("max-age=600"))
        proxy.origin.route("/b.jpg", photo("max-age=60, stale-while-revalidate=600", age: 100))
        let target = proxy.target("/a.jpg?token=hush&w=9", Self.resize)
        _ = try await proxy.get(target)
        let known = try await proxy.get(target)
        let same = try await proxy.get(target, "If-None-Match: \(known["ETag"] ?? "")")
        for _ in 0..<2 { _ = try await proxy.get(proxy.target("/b.jpg")) }
        proxy.daemon.send(signal: SIGTERM)
        _ = try await proxy.daemon.exitCode()

        let lines = proxy.daemon.log.split(separator: "\n").filter { $0.contains(" request ") }
        let text = said.replacing("PORT", with: "\(proxy.origin.port)")
        let ofMemory = lines.filter { $0.contains(" cache=memory ") }
        #expect(same.status == 304 && ofMemory.contains { $0.contains(" status=304 ") }, "\(lines)")
        #expect(ofMemory.count == 2 && ofMemory.allSatisfy { $0.hasSuffix(text) }, "\(lines)")
        let stale = lines.filter { $0.contains(" cache=stale ") }
        #expect(stale.count == 1 && stale.allSatisfy { $0.contains("url_host=") != text.isEmpty }, "\(lines)")
        #expect(!lines.contains { $0.contains("hush") })
    }

    @Test(
        "A stale picture within stale-while-revalidate is answered from memory while it is refreshed (RFC 5861 §3)"
    )
    func staleWhileRevalidate() async throws {
        let proxy = try await Proxy()
        let gate = OriginGate()
        proxy.origin.route(
            "/a.jpg",
            inTurn: [
                photo("max-age=60, stale-while-revalidate=600", age: 100),
                photo("max-age=600", number: 2).held(by: gate),
            ])
        let target = proxy.target("/a.jpg")
        let first = try await proxy.get(target)

        let (second, third) = try await (proxy.get(target), proxy.get(target))
        await proxy.origin.waitForRequests("/a.jpg", count: 2)
        gate.open()
        var fresh = try await proxy.get(target)
        while fresh.body == first.body { fresh = try await proxy.get(target) }
        // The first new one may still come out of the task that made it.
        fresh = try await proxy.get(target)

        for stale in [second, third] {
            #expect(stale.status == 200 && stale.body == first.body)
            #expect(stale["Cache-Status"]?.hasPrefix("imageproxyd; hit; ttl=-") == true)
            #expect(stale["Cache-Status"]?.hasSuffix("; detail=stale-while-revalidate") == true)
            #expect(stale["Age"].flatMap { Int($0) } ?? 0 >= 100)
            #expect(stale["Cache-Control"] == "public, max-age=60, stale-while-revalidate=600")
        }
        #expect(fresh.body == Fixtures.photo(number: 2))
        #expect(fresh["Cache-Status"]?.hasSuffix("; detail=memory") == true)
        #expect(proxy.origin.count("/a.jpg") == 2)
    }

    @Test("The Date of a stored picture stays, its Age grows (RFC 9110 §6.6.1, RFC 9111 §5.1)")
    func date() async throws {
        let proxy = try await Proxy()
        let own = HTTPDate(seconds: SystemTime.seconds() - 1_000).description
        proxy.origin.route("/a.jpg", photo("max-age=86400", more: [("Date", own)]))
        let target = proxy.target("/a.jpg", Self.resize)

        let answers = try await [proxy.get(target), proxy.get(target)]
        let tag = try #require(answers[1]["ETag"])
        let confirmed = try await proxy.get(target, "If-None-Match: \(tag)")

        #expect(confirmed.status == 304)
        for answer in answers + [confirmed] {
            #expect(answer["Date"] == own)
            #expect(answer["Age"].flatMap { Int($0) } ?? 0 >= 1_000)
        }
        #expect(proxy.origin.count("/a.jpg") == 1)
    }

    @Test("Stale answers are counted as such, by their tier")
    func metrics() async throws {
        for (results, tier, kind) in [("all", "memory", "result"), ("disk", "disk", "original")] {
            let proxy = try await Proxy(results: results)
            proxy.origin.route(
                "/a.jpg", inTurn: [photo("max-age=60, stale-if-error=600", age: 100), .status(503)])
            let target = proxy.target("/a.jpg")
            _ = try await proxy.get(target)
            for _ in 0..<3 {
                #expect(
                    try await proxy.get(target)["Cache-Status"]?.hasSuffix("detail=stale-if-error") == true)
            }

            let text = try await proxy.get("/metrics").text

            let name =
                "imageproxyd_cache_requests_total{tier=\"\(tier)\",kind=\"\(kind)\",outcome=\"stale\"} 3\n"
            #expect(
                text.contains(name),
                "\(text.split(separator: "\n").filter { $0.contains("requests_total{tier") })")
        }
    }

    @Test(
        "A stale picture replaces the answer of a failing origin, unless it must be revalidated (RFC 5861 §4)"
    )
    func staleIfError() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.jpg", inTurn: [photo("max-age=60", age: 100), .status(503)])
        proxy.origin.route("/b.jpg", inTurn: [photo("max-age=60, must-revalidate", age: 100), .status(503)])
        let targets = ["/a.jpg", "/b.jpg"].map { proxy.target($0, Self.resize) }
        let first = try await proxy.get(targets[0])
        _ = try await proxy.get(targets[1])

        let stale = try await proxy.get(targets[0])
        let refused = try await proxy.get(targets[1])

        #expect(stale.status == 200 && stale.body == first.body)
        #expect(stale["Cache-Status"]?.hasPrefix("imageproxyd; fwd=stale; fwd-status=503; ttl=-") == true)
        #expect(stale["Cache-Status"]?.hasSuffix("; detail=stale-if-error") == true)
        #expect(refused.status == 502 && refused.code == "upstream_status")
    }

    @Test(
        "After a restart, stale pictures on disk are served as before, also while their origin is unreachable"
    )
    func restart() async throws {
        let folder = try TemporaryDirectory()
        let origin = try FakeOrigin()
        origin.route("/a.jpg", photo("max-age=60, stale-while-revalidate=600", age: 100))
        origin.route("/b.jpg", photo("max-age=60, stale-if-error=600", age: 100))
        origin.route("/c.jpg", photo("max-age=60, stale-if-error=0", age: 100))
        let before = try await Proxy(in: folder, origin: origin)
        for path in ["/a.jpg", "/b.jpg", "/c.jpg"] {
            _ = try await before.get(before.target(path, Self.resize))
        }
        before.daemon.send(signal: 15)
        #expect(try await before.daemon.exitCode() == 0)
        origin.stop()
        await origin.waitUntilStopped()

        let after = try await Proxy(in: folder, origin: origin)
        let grace = try await after.get(after.target("/a.jpg", Self.resize))
        let error = try await after.get(after.target("/b.jpg", Self.resize))
        let refused = try await after.get(after.target("/c.jpg", Self.resize))

        #expect(grace["Cache-Status"]?.hasSuffix("; detail=stale-while-revalidate") == true)
        #expect(grace.pngSize == [30, 20])
        #expect(error["Cache-Status"]?.hasPrefix("imageproxyd; fwd=stale; ttl=-") == true)
        #expect(error["Cache-Status"]?.hasSuffix("; detail=stale-if-error") == true)
        #expect(error.pngSize == [30, 20])
        #expect(refused.status == 502 && refused.code == "upstream_unreachable")
    }

    @Test(
        "A lifetime without a stale window is not extended (RFC 9111 §4.2.4), and the origin's directives are passed on"
    )
    func noGrace() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.jpg", photo("max-age=60, must-revalidate, immutable", age: 100))
        proxy.origin.route("/b.jpg", photo("s-maxage=60, max-age=5"))

        _ = try await proxy.get(proxy.target("/a.jpg"))
        let second = try await proxy.get(proxy.target("/a.jpg"))
        let shared = try await proxy.get(proxy.target("/b.jpg"))

        #expect(second["Cache-Status"]?.hasPrefix("imageproxyd; fwd=stale; fwd-status=200") == true)
        #expect(second["Cache-Control"] == "public, max-age=60, must-revalidate, immutable")
        #expect(shared["Cache-Control"] == "public, max-age=5, s-maxage=60")
        #expect(proxy.origin.count("/a.jpg") == 2)
    }

    @Test("no-store and private pictures are answered and not stored (RFC 9111 §5.2.2.5, §5.2.2.7)")
    func unshareable() async throws {
        let proxy = try await Proxy()
        for (path, control) in [("/a.jpg", "no-store"), ("/b.jpg", "private, max-age=60")] {
            proxy.origin.route(path, photo(control))
            for _ in 0..<2 {
                let answer = try await proxy.get(proxy.target(path, Self.resize))
                #expect(answer["Cache-Status"] == "imageproxyd; fwd=uri-miss; fwd-status=200")
                #expect(answer["Cache-Control"]?.hasPrefix(control.prefix(7)) == true)
            }
            #expect(proxy.origin.count(path) == 2)
        }
    }

    @Test("Cache-Control in requests of trusted clients is followed (RFC 9111 §5.2.1)")
    func trustedClients() async throws {
        let proxy = try await Proxy(settings: Self.trusting)
        proxy.origin.route(
            "/a.jpg",
            OriginAnswer.validated(
                Fixtures.photo, entityTag: "\"1\"", fields: [("Cache-Control", "max-age=600")]))
        let target = proxy.target("/a.jpg")

        let missing = try await proxy.get(target, "Cache-Control: only-if-cached")
        _ = try await proxy.get(target)
        let cached = try await proxy.get(target, "Cache-Control: only-if-cached")
        let reloaded = try await proxy.get(target, "Cache-Control: max-age=0")
        let forced = try await proxy.get(target, "Pragma: no-cache")

        #expect(missing.status == 504 && missing.code == "not_cached")
        #expect(cached["Cache-Status"]?.hasSuffix("; detail=memory") == true)
        #expect(reloaded["Cache-Status"] == "imageproxyd; fwd=request; fwd-status=304; stored")
        #expect(forced["Cache-Status"] == "imageproxyd; fwd=request; fwd-status=200; stored")
        #expect(proxy.origin.count("/a.jpg") == 3)
    }

    @Test("Cache-Control in requests of other clients is ignored, and harms no other client")
    func otherClients() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.jpg", photo("max-age=600"))
        let target = proxy.target("/a.jpg")

        let first = try await proxy.get(target, "Cache-Control: only-if-cached")
        #expect(first.status == 200)
        for line in ["Cache-Control: no-cache", "Cache-Control: max-age=0, no-store", "Pragma: no-cache"] {
            let answer = try await proxy.get(target, line)
            #expect(answer["Cache-Status"]?.hasSuffix("; detail=memory") == true)
        }
        #expect(proxy.origin.count("/a.jpg") == 1)
    }

    @Test("After failed connections an origin gets no requests for a while: 503 with Retry-After")
    func breaker() async throws {
        let proxy = try await Proxy(
            settings:
                "\"fetch\": {\"retries\": 0}, \"failedURLs\": {\"breaker\": {\"failures\": 3, \"pause\": \"1h\", \"maximum\": \"1h\"}}"
        )
        let closed = try HeldPort()

        for number in 0..<3 {
            let answer = try await proxy.get("/img?url=\(closed.url("/\(number)"))")
            #expect(answer.code == "upstream_unreachable")
        }
        let refused = try await proxy.get("/img?url=\(closed.url("/3"))")

        #expect(refused.status == 503 && refused.code == "host_unavailable")
        #expect((2_800...3_600).contains(refused["Retry-After"].flatMap { Int($0) } ?? 0))
        #expect(try await proxy.metric("imageproxyd_host_breakers_open") == 1)
    }
}
