// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("Requests that come through proxies")
struct LoopTests {
    @Test(
        "A request that has passed this daemon before is 508 (RFC 8586 §3)",
        arguments: ["CDN-Loop: a, imageproxyd", "Via: 1.1 imageproxyd"])
    func loop(line: String) async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.png", .body(Fixtures.photo))

        let answer = try await proxy.get(proxy.target("/a.png"), line)

        #expect(answer.status == 508)
        #expect(answer.code == "loop_detected")
        #expect(proxy.origin.count("/a.png") == 0)
    }

    @Test(
        "A looping request is 508 also for a stored picture; other requests get it from memory",
        arguments: ["CDN-Loop: a, imageproxyd", "Via: 1.1 imageproxyd", "cdn-loop: IMAGEPROXYD;x=1"])
    func loopOnHit(line: String) async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.png", .body(Fixtures.photo))
        let target = proxy.target("/a.png")
        for _ in 0..<2 { #expect(try await proxy.get(target).status == 200) }

        let looping = try await proxy.get(target, line)
        let other = try await proxy.get(target, "CDN-Loop: imageproxyd2, my-imageproxyd", "Via: 1.1 nginx")

        #expect(looping.status == 508)
        #expect(looping.code == "loop_detected")
        #expect(other.status == 200)
        #expect(other["Cache-Status"]?.contains("detail=memory") == true)
    }

    @Test("A request passes on its trace, and is 508 where the origin detects the loop")
    func traceAndLoop() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.png", .body(Fixtures.photo))
        proxy.origin.route("/loop.png", .status(508))
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

        let later = "cc" + parent.dropFirst(2) + "-and-more"
        let traced = try await proxy.get(proxy.target("/a.png"), "traceparent: \(later)", "tracestate: x=1")
        let looping = try await proxy.get(proxy.target("/loop.png"))

        #expect(traced.status == 200)
        let request = try #require(proxy.origin.log.requests.first)
        #expect(request["traceparent"] == parent)
        #expect(request["tracestate"] == nil, "a client writes there what it wants")
        #expect(request["cdn-loop"] == "imageproxyd")
        #expect(looping.status == 508)
    }

    @Test(
        "A fetch names the proxies that the request has passed, and adds the daemon (RFC 8586 §2, RFC 9110 §7.6.3)"
    )
    func way() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.png", .body(Fixtures.photo))
        let lines = ["CDN-Loop: foo; a=\"b\"", "CDN-Loop: bar", "Via: 1.0 x"]
        #expect(try await proxy.get(proxy.target("/a.png"), lines: lines).status == 200)
        let request = try #require(proxy.origin.log.requests.first)
        #expect(request["cdn-loop"] == "foo; a=\"b\",bar, imageproxyd")
        #expect(request["via"] == "1.0 x, 1.1 imageproxyd")
    }

    @Test("A request with a field about its proxies does not cause the refusal of others")
    func refusalOfOne() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.png") { request in
            request["cdn-loop"] == "imageproxyd" ? .body(Fixtures.photo) : .status(403)
        }
        let refused = try await proxy.get(proxy.target("/a.png"), "CDN-Loop: origin-cdn")
        let other = try await proxy.get(proxy.target("/a.png"))
        #expect(refused.status == 502)
        #expect(other.status == 200)
    }

    @Test(
        "A request with a field about its proxies shares no fetch and no remembered failure with others",
        arguments: ["Via: 1.1 hostile", "CDN-Loop: hostile"])
    func sharesNothing(line: String) async throws {
        let proxy = try await Proxy()
        let gate = OriginGate()
        proxy.origin.route("/a.png") { request in
            request["via"] == "1.1 imageproxyd" && request["cdn-loop"] == "imageproxyd"
                ? .body(Fixtures.photo) : OriginAnswer.status(404).held(by: gate)
        }
        let target = proxy.target("/a.png")

        async let hostile = proxy.get(target, line)
        await proxy.origin.waitForRequests("/a.png")
        for _ in 0..<3 { #expect(try await proxy.get(target).status == 200) }
        gate.open()

        let refused = try await hostile

        #expect(refused.status == 404)
        #expect(try await proxy.get(proxy.target("/a.png", "transform=resize:9x&format=png")).status == 200)
        #expect(proxy.origin.count("/a.png") == 2, "what others have got stays stored")
    }

    @Test("A refusal of a request that names proxies is not to be stored by caches in front")
    func refusalInFront() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.png", .status(404))
        let target = proxy.target("/a.png")

        let hostile = [
            try await proxy.get(target, "Via: 1.1 hostile"), try await proxy.get(target, "Via: 1.1 hostile"),
        ]
        let plain = try await proxy.get(target)
        let later = try await proxy.get(target, "CDN-Loop: other")

        #expect(hostile.allSatisfy { $0["Cache-Control"] == "no-store" })
        #expect(plain["Cache-Control"]?.hasPrefix("max-age=") == true)
        #expect(later["Cache-Control"]?.hasPrefix("max-age=") == true, "it is refused as all others are")
        #expect(proxy.origin.count("/a.png") == 2)
    }

    @Test("A damaged picture that a request with proxies got is refused to no client of a cache in front")
    func damagedForOne() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.jpg") { request in
            .body(
                request["via"] == "1.1 imageproxyd"
                    ? Fixtures.photo : Array(Fixtures.photo.prefix(Fixtures.photo.count / 2)),
                fields: [("Cache-Control", "max-age=600"), ("Vary", "Via")])
        }
        let target = proxy.target("/a.jpg", "transform=resize:9x&format=png")

        let hostile = try await proxy.get(target, "Via: 1.1 hostile")
        let other = try await proxy.get(target)

        #expect(hostile.status == 422 && hostile.code == "bad_image_data")
        #expect(hostile["Cache-Control"] == "no-store")
        #expect(other.status == 200)
    }

    @Test("A 403 that a request without proxies got says nothing of one that names some")
    func refusalOfAll() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.png") { request in
            request["cdn-loop"] == "imageproxyd" ? .status(403) : .body(Fixtures.photo)
        }

        #expect(try await proxy.get(proxy.target("/a.png")).status == 502)
        #expect(try await proxy.get(proxy.target("/a.png"), "CDN-Loop: cdn").status == 200)
    }

    @Test(
        "A picture that varies on the client's proxies is given to no other client",
        arguments: ["Via: 1.1 hostile", "CDN-Loop: hostile"])
    func variant(line: String) async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.png") { request in
            let isHostile = request["via"]! + request["cdn-loop"]! != "1.1 imageproxydimageproxyd"
            return .body(
                isHostile ? Fixtures.photo(number: 1) : Fixtures.photo,
                fields: [("Cache-Control", "max-age=600"), ("Vary", "Via, CDN-Loop")])
        }
        let target = proxy.target("/a.png")

        let hostile = try await proxy.get(target, line)
        let other = try await proxy.get(target)

        #expect(hostile.body == Fixtures.photo(number: 1))
        #expect(other.body == Fixtures.photo)
    }

    @Test("A no-store that a request with proxies got removes nothing that others use")
    func noStoreOfOne() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.png") { request in
            request["via"] == "1.1 imageproxyd"
                ? .body(Fixtures.photo, fields: [("Cache-Control", "max-age=0, stale-if-error=600")])
                : .body(Fixtures.photo, fields: [("Cache-Control", "no-store")])
        }
        let target = proxy.target("/a.png")

        #expect(try await proxy.get(target).status == 200)
        #expect(try await proxy.get(target, "Via: 1.1 hostile").status == 200)
        proxy.origin.route("/a.png", .status(503))
        #expect(try await proxy.get(target).status == 200)
    }

    @Test("Requests through the same proxies share a fetch")
    func sameWay() async throws {
        let proxy = try await Proxy()
        let gate = OriginGate()
        proxy.origin.route("/a.png", OriginAnswer.body(Fixtures.photo).held(by: gate))
        let target = proxy.target("/a.png", "transform=resize:9x&format=png")

        async let first = proxy.get(target, "Via: 1.1 varnish")
        async let second = proxy.get(target, "Via: 1.1 varnish")
        while try await proxy.metric("imageproxyd_http_connections") < 3 {}
        await proxy.origin.waitForRequests("/a.png")
        gate.open()

        let statuses = try await [first.status, second.status]

        #expect(statuses == [200, 200])
        #expect(proxy.origin.count("/a.png") == 1)
    }

    @Test("A missing picture is answered from memory, whichever proxy the request passed")
    func missing() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.png", .status(404))
        for _ in 0..<2 {
            #expect(try await proxy.get(proxy.target("/a.png"), "Via: 1.1 varnish").status == 404)
        }
        #expect(proxy.origin.count("/a.png") == 1)
    }

    @Test("The refusal of an invalid source names the parameter and the position in it")
    func positions() async throws {
        let proxy = try await Proxy()
        let cases = [
            ("http%3A%2F%2Fexample.com.%2Fa", 18), ("http%3A%2F%2Flocalhost.%3A80%2F", 16),
            ("http%3A%2F%2Fb%C3%BCcher.example%2F", 8), ("http%3A%2F%2Fexample.com%3A99999%2F", 19),
            ("http%3A%2F%2Fa%2540b%2F", 8), ("http%3A%2F%2Fu%40b%2F", 7),
        ]

        for (url, position) in cases {
            let answer = try await proxy.get("/img?url=\(url)")
            #expect(answer.status == 400)
            #expect(
                answer.text.contains(#""parameter":"url","position":\#(position)"#), "\(url): \(answer.text)")
        }
    }
}
