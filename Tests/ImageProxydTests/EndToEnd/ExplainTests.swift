// SPDX-License-Identifier: Apache-2.0

import Primitives
import TestSupport
import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("Explaining a request")
struct ExplainTests {
    private static let jpeg = [("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=600")]
    private static let small = "transform=resize:30x20&format=png"

    private static func explain(_ proxy: Proxy, _ target: String) async throws -> JSONValue {
        let answer = try await proxy.administer("GET", "/explain?target=\(target.asQueryValue)")
        #expect(answer.status == 200)
        var parser = JSONParser(answer.body)
        return try parser.parse()
    }

    private static func steps(_ explanation: JSONValue) -> [String: String] {
        Dictionary(
            explanation.rows("steps").map { ($0.text("step"), $0.text("text")) },
            uniquingKeysWith: { $0 + "\n" + $1 })
    }

    @Test("What would happen is said without asking the origin, and is what then happens, step for step")
    func way() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.jpeg))
        let target = proxy.target("/a.jpg", Self.small)

        let before = try await Self.explain(proxy, target)
        #expect(proxy.origin.count("/a.jpg") == 0)
        #expect(before.text("answer") == "fetched" && before.int("status") == 200)
        #expect(Self.steps(before)["stored"] == "nothing")

        #expect(try await proxy.get(target).status == 200)
        let stored = try await Self.explain(proxy, target)
        #expect(stored.text("answer") == "stored")
        #expect(Self.steps(stored)["answer"] == "200 from memory")
        #expect(Self.steps(stored)["result"] == "resize:size=30x20, as png")
        #expect(Self.steps(stored)["freshness"]?.hasPrefix("fresh for ") == true)
        #expect(Self.steps(stored)["stored"]?.contains("disk: original, jpeg") == true)

        let other = try await Self.explain(proxy, proxy.target("/a.jpg", "transform=resize:31x&format=png"))
        #expect(other.text("answer") == "rendered")
        #expect(proxy.origin.count("/a.jpg") == 1)
    }

    @Test("Explaining counts neither as a hit nor as a look-up")
    func uncounted() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.jpeg))
        for _ in 1...2 { _ = try await proxy.get(proxy.target("/a.jpg", Self.small)) }
        let name = "imageproxyd_cache_requests_total{tier=\"memory\",kind=\"result\",outcome=\"hit\"}"
        let before = try await proxy.metric(name)
        #expect(before == 1)
        for _ in 1...3 { _ = try await Self.explain(proxy, proxy.target("/a.jpg", Self.small)) }
        #expect(try await proxy.metric(name) == before)
    }

    @Test("A remembered failure, and for how long, are said")
    func failed() async throws {
        let proxy = try await Proxy()
        _ = try await proxy.get(proxy.target("/missing.jpg"))
        let explanation = try await Self.explain(proxy, proxy.target("/missing.jpg"))
        #expect(explanation.text("answer") == "failed" && explanation.int("status") == 404)
        #expect(
            Self.steps(explanation)["remembered"]?
                .hasPrefix("the source has failed, which is remembered for ") == true)
        #expect(
            explanation.inside(["details", "failures", "source", "code"]) == .string("upstream_not_found"))
    }

    @Test("What the parameters or the rules refuse is said with the status that a client would get")
    func refused() async throws {
        let proxy = try await Proxy(security: #""sources": ["https://a.example/*"]"#)
        let source = try await Self.explain(proxy, "/img?url=https%3A%2F%2Fb.example%2Fx.jpg")
        let parameter = try await Self.explain(proxy, "/img?url=https%3A%2F%2Fa.example%2Fx.jpg&quality=0")
        #expect(source.int("status") == 403)
        #expect(parameter.int("status") == 400)
        #expect(Self.steps(parameter)["answer"]?.contains("quality") == true)
    }

    @Test("An address that the daemon may not connect to is said before it tries")
    func address() async throws {
        let proxy = try await Proxy()
        let explanation = try await Self.explain(proxy, "/img?url=http%3A%2F%2F10.0.0.1%2Fx.jpg")
        #expect(explanation.int("status") == 403)
        #expect(Self.steps(explanation)["answer"]?.contains("address_forbidden") == true)
    }

    @Test("A stale picture is explained as one that the origin must confirm")
    func stale() async throws {
        let proxy = try await Proxy()
        proxy.origin.route(
            "/a.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=0"), ("ETag", "\"1\"")]))
        _ = try await proxy.get(proxy.target("/a.jpg", Self.small))
        let explanation = try await Self.explain(proxy, proxy.target("/a.jpg", Self.small))
        #expect(explanation.text("answer") == "revalidated")
        #expect(proxy.origin.count("/a.jpg") == 1)
    }

    @Test(
        "A target that is about no picture, or can be in no request, is refused",
        arguments: [
            "/metrics", "/img?url=a b", "",
        ])
    func invalidTarget(target: String) async throws {
        let proxy = try await Proxy()
        let answer = try await proxy.administer("GET", "/explain?target=\(target.asQueryValue)")
        #expect(answer.status == 400)
        #expect(answer.text.contains("target"))
    }

    @Test("The format is explained by the Accept that is given, and another proxy's URL by its dialect")
    func dialect() async throws {
        let proxy = try await Proxy(settings: #""dialects": [{"name": "weserv", "prefix": "/w"}]"#)
        let url = proxy.origin.url("/a.jpg").asQueryValue
        let answer = try await proxy.administer(
            "GET", "/explain?target=\("/w/?url=\(url)&w=30".asQueryValue)&accept=image%2Fwebp")
        var parser = JSONParser(answer.body)
        let steps = Self.steps(try parser.parse())
        #expect(steps["dialect"] == "weserv")
        #expect(steps["result"]?.hasPrefix("resize:") == true, "\(steps)")
    }

    @Test(
        "The command takes a whole URL for one of this proxy only if that names a source",
        arguments: [
            ("https://img.example/img?url=https://a.example/b.jpg", "/img?url=https://a.example/b.jpg"),
            ("https://img.example/img/w:3/https://a.example/b.jpg", "/img/w:3/https://a.example/b.jpg"),
            ("/img/b.jpg", "/img/b.jpg"),
            ("https://img.example/img/b.jpg", nil),
            ("https://img.example/b.jpg", nil),
        ] as [(String, String?)])
    func command(url: String, target: String?) {
        #expect(ExplainCommand.target(of: url) == target)
    }

    @Test(
        "A whole URL is this proxy's if it has the form of a dialect that is answered there, else a source's")
    func wholeURL() async throws {
        let proxy = try await Proxy(settings: #""dialects": [{"name": "weserv", "prefix": "/w"}]"#)
        let source = proxy.origin.url("/a.jpg")
        func dialect(_ url: String) async throws -> String? {
            let answer = try await proxy.administer("GET", "/explain?url=\(url.asQueryValue)")
            var parser = JSONParser(answer.body)
            return Self.steps(try parser.parse())["dialect"]
        }

        #expect(try await dialect("https://img.example/w/?url=\(source.asQueryValue)&w=30") == "weserv")
        #expect(try await dialect(source) == nil)
        #expect(try await dialect("https://img.example/w/a.jpg") == nil)
    }
}
