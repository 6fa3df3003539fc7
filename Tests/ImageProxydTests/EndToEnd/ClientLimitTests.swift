// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("Limits for one client")
struct ClientLimitTests {
    @Test(
        "A client beyond its rate gets 429 with Retry-After, counted by the address that a trusted proxy names; others do not"
    )
    func limit() async throws {
        let proxy = try await Proxy(
            settings: #""http": {"trustedProxies": ["10.0.0.0/8"]}"#,
            security: #""rateLimit": {"requests": 1, "window": "1h", "burst": 2}"#)
        proxy.origin.route("/a.jpg", .body(Fixtures.photo))
        let target = proxy.target("/a.jpg")

        let first = try await proxy.get(target, "X-Forwarded-For: 192.0.2.1")
        let hit = try await proxy.get(target, "X-Forwarded-For: 192.0.2.1")
        let refused = try await proxy.get(target, "X-Forwarded-For: 192.0.2.1")
        let other = try await proxy.get(target, "X-Forwarded-For: 192.0.2.2")
        let neighbours = try await ["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8:0:1::1"].asyncMap {
            try await proxy.get(target, "X-Forwarded-For: \($0)").status
        }

        #expect([first.status, hit.status, refused.status, other.status] == [200, 200, 429, 200])
        #expect(refused.code == "too_many_requests")
        #expect(refused["Retry-After"].flatMap { Int($0) }.map { (3_000...3_600).contains($0) } == true)
        #expect(refused["Cache-Control"] == "no-store")
        #expect(neighbours == [200, 200, 429, 200], "a /64 is one client")
        #expect(try await proxy.get("/healthz").status == 200)
    }

    @Test("A client may set the priority of its picture in known words")
    func priority() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.jpg", .body(Fixtures.photo))

        let low = try await proxy.get(proxy.target("/a.jpg", "priority=low"))
        let field = try await proxy.get(proxy.target("/a.jpg"), "Priority: u=1, i")
        let wrong = try await proxy.get(proxy.target("/a.jpg", "priority=urgent"))

        #expect([low.status, field.status, wrong.status] == [200, 200, 400])
        #expect(wrong.text.contains(#""parameter":"priority""#))
        #expect(proxy.origin.count("/a.jpg") == 1, "no part of any key")
    }
}
