// SPDX-License-Identifier: Apache-2.0

import Primitives
import TestSupport
import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("Changes while images are prefetched")
struct PrefetchChangeTests {
    private typealias Orders = PrefetchTests

    /// A proxy with an order whose first source is being fetched.
    private static func start(
        _ paths: [String], _ sizes: [String] = ["resize:20x"]
    ) async throws -> (proxy: Proxy, gate: OriginGate, token: String) {
        let proxy = try await Orders.proxy(settings: #""prefetch": {"maxConcurrent": 1}"#)
        let gate = OriginGate()
        proxy.origin.route("/held.jpg", Orders.photo(9).held(by: gate))
        let token = try Orders.token(
            try await Orders.order(proxy, paths, ["transforms": .strings(sizes), "format": .string("png")]))
        await proxy.origin.waitForRequests("/held.jpg")
        return (proxy, gate, token)
    }

    @Test("What is purged while it is fetched does not come back, in any size: it is fetched once more")
    func purge() async throws {
        let (proxy, gate, token) = try await Self.start(["/held.jpg"], ["resize:20x", "resize:40x"])

        let purged = try await proxy.administer("DELETE", "/cache", about: "/held.jpg")
        gate.open()
        let end = try await Orders.end(of: token, at: proxy)
        let answer = try await proxy.get(proxy.target("/held.jpg", "transform=resize:40x&format=png"))

        #expect(purged.status == 200)
        #expect(end.failed == 0 && end.finished == 2)
        #expect(answer["Cache-Status"]?.contains("hit") == true && proxy.origin.count("/held.jpg") == 2)
    }

    @Test("A reload leaves orders running, under the new settings")
    func reload() async throws {
        let (proxy, gate, token) = try await Self.start(["/held.jpg", "/0.jpg", "/1.jpg"])

        try await proxy.reload(
            settings: #""prefetch": {"maxConcurrent": 1}"#, security: #""sources": ["https://example.org/*"]"#
        )
        gate.open()
        let end = try await Orders.end(of: token, at: proxy)

        #expect(end.state == .done && end.finished == 1 && end.reasons.map(\.code) == ["source_forbidden"])
        #expect(end.failed == 2 && proxy.origin.count("/0.jpg") == 0)
    }

    @Test("A client that requests what is being prefetched gets it from the same fetch")
    func join() async throws {
        let (proxy, gate, token) = try await Self.start(["/held.jpg"])

        async let answer = proxy.get(proxy.target("/held.jpg", "transform=resize:30x&format=png"))
        // The client's request waits for the fetch that is under way.
        while try await proxy.metric(#"imageproxyd_coalesced_requests_total{task="fetch"}"#) < 1 {}
        gate.open()

        #expect(try await answer.pngSize?.first == 30)
        #expect(try await Orders.end(of: token, at: proxy).finished == 1)
        #expect(proxy.origin.count("/held.jpg") == 1)
    }

    @Test("A client's request is answered while all places of prefetching are taken by slow sources")
    func beside() async throws {
        let (proxy, gate, token) = try await Self.start(["/held.jpg"])

        let answers = try await [
            proxy.get(proxy.target("/0.jpg", "transform=resize:30x")),
            proxy.get(proxy.target("/1.jpg", "transform=resize:30x")),
        ]
        gate.open()

        #expect(answers.map(\.status) == [200, 200])
        #expect(try await Orders.end(of: token, at: proxy).state == .done)
    }
}
