// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("What answers say to browsers and to caches in front")
struct DownstreamTests {
    private static let fields = ["CDN-Cache-Control", "Surrogate-Control", "X-Accel-Expires"]

    private static func downstream(_ members: String) -> String { #""downstream": {\#(members)}"# }

    /// Every way to an answer of one picture: made, from memory, not modified, from disk, streamed, as facts.
    private static func answers(_ proxy: Proxy) async throws -> [RawHTTPClient.Answer] {
        let target = proxy.target("/a.jpg", "transform=resize:20x20")
        let made = try await proxy.get(target)
        let hit = try await proxy.get(target)
        let same = try await proxy.get(target, "If-None-Match: \(made["ETag"] ?? "")")
        #expect(hit["Cache-Status"]?.hasSuffix("detail=memory") == true && same.status == 304)
        _ = try await proxy.administer("DELETE", "/cache?all=1&tier=memory")
        let stored = try await proxy.get(target)
        #expect(stored["Cache-Status"]?.hasSuffix("detail=disk") == true)
        return [
            made, hit, same, stored, try await proxy.get(proxy.target("/streamed.jpg")),
            try await proxy.get(proxy.target("/a.jpg").replacing("/img", with: "/info")),
        ]
    }

    private static func proxy(_ settings: String) async throws -> Proxy {
        let proxy = try await Proxy(settings: settings)
        for path in ["/a.jpg", "/streamed.jpg"] {
            proxy.origin.route(
                path,
                .body(
                    Fixtures.photo, type: "image/jpeg",
                    fields: [("Cache-Control", "max-age=900, stale-if-error=5"), ("Age", "300")]))
        }
        return proxy
    }

    @Test("By default Cache-Control says what the origin says, and no other field is there")
    func defaults() async throws {
        for answer in try await Self.answers(try await Self.proxy("")) {
            #expect(answer["Cache-Control"] == "public, max-age=900, stale-if-error=5")
            for field in Self.fields { #expect(answer[field] == nil) }
        }
    }

    @Test("Lifetimes of an operator count from each answer, wherever that comes from")
    func lifetimes() async throws {
        let proxy = try await Self.proxy(
            Self.downstream(
                #""browserMaxAge": "1m", "sharedMaxAge": "1d", "sharedFields": ["s-maxage", "X-Accel-Expires"]"#
            ))

        for answer in try await Self.answers(proxy) {
            let age = try #require(answer["Age"].flatMap { Int($0) })
            #expect(age >= 300)
            let control = "public, max-age=\(age + 60), s-maxage=\(age + 86_400), stale-if-error=5"
            #expect(answer["Cache-Control"] == control)
            #expect(answer["X-Accel-Expires"] == "86400")
        }
    }

    @Test(
        "Caches in front get their time in fields of their own, without s-maxage where that is not named"
    )
    func ownFields() async throws {
        let proxy = try await Self.proxy(
            Self.downstream(
                #""sharedFields": ["CDN-Cache-Control", "Surrogate-Control"]"#))

        for answer in try await Self.answers(proxy) {
            #expect(answer["Cache-Control"] == "public, max-age=900, stale-if-error=5")
            #expect(answer["CDN-Cache-Control"] == "max-age=900, stale-if-error=5")
            #expect(answer["Surrogate-Control"] == "max-age=900, stale-if-error=5")
        }
    }

    @Test("A daemon behind another one follows its CDN-Cache-Control, and passes Cache-Control on")
    func chained() async throws {
        let inner = try await Self.proxy(
            Self.downstream(
                #""browserMaxAge": "1m", "sharedMaxAge": "2h", "sharedFields": ["CDN-Cache-Control"]"#))
        let answer = try await inner.get(inner.target("/a.jpg"))
        let outer = try await Proxy()
        outer.origin.route(
            "/b.jpg",
            .body(
                answer.body, type: "image/jpeg",
                fields: ["Cache-Control", "CDN-Cache-Control", "Age"].compactMap { name in
                    answer[name].map { (name, $0) }
                }))

        _ = try await outer.get(outer.target("/b.jpg"))
        let hit = try await outer.get(outer.target("/b.jpg"))
        let ttl = hit["Cache-Status"]?.firstMatch(of: /ttl=(\d+)/).flatMap { Int($0.1) } ?? 0

        #expect(hit["Cache-Control"] == answer["Cache-Control"])
        #expect((7_000...7_200).contains(ttl), "\(hit["Cache-Status"] ?? "")")
    }

    @Test("A reload changes the fields of stored pictures, too")
    func reload() async throws {
        let proxy = try await Self.proxy("")
        let target = proxy.target("/a.jpg")
        _ = try await proxy.get(target)

        try await proxy.reload(settings: Self.downstream(#""sharedFields": ["Surrogate-Control"]"#))

        #expect(try await proxy.get(target)["Surrogate-Control"] == "max-age=900, stale-if-error=5")
    }
}
