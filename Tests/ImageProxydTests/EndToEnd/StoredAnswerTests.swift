// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// What a restarted daemon answers from files, before anything is in memory.
@Suite("Answers from files")
struct StoredAnswerTests {
    private static let resize = "transform=resize:30x20&format=png"
    private static let fresh = [("Cache-Control", "max-age=600")]

    private func restarted(_ proxy: Proxy, without calls: [String] = []) async throws -> Proxy {
        try await stop(proxy)
        return try await Proxy(results: "disk", in: proxy.folder, origin: proxy.origin, without: calls)
    }

    private func stop(_ proxy: Proxy) async throws {
        proxy.daemon.send(signal: 15)
        _ = try await proxy.daemon.exitCode()
    }

    @Test("Answers from files are those of an intermediate if that made them")
    func derived() async throws {
        var proxy = try await Proxy(
            results: "disk",
            environment: [
                "IMAGEPROXYD_TRANSFORM_INTERMEDIATES_SIDE=600",
                "IMAGEPROXYD_TRANSFORM_INTERMEDIATES_MIN_PIXELS=100000",
            ])
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fresh))
        let targets = [200, 150].map { proxy.target("/a.jpg", "transform=resize:\($0)x&format=webp") }
        _ = try await proxy.get(targets[0])
        let first = try await proxy.get(targets[1])
        let kinds = ["result", "derived", "intermediate"]
        for kind in kinds {
            #expect(try await proxy.metric("imageproxyd_cache_entries{tier=\"disk\",kind=\"\(kind)\"}") == 1)
        }

        proxy = try await restarted(proxy)
        let again = try await proxy.get(targets[1])

        #expect(again.status == 200 && again.body == first.body && again["ETag"] == first["ETag"])
        #expect(again["Cache-Status"]?.contains("detail=disk") == true)
        #expect(proxy.origin.count("/a.jpg") == 1)
    }

    /// Without openat2(2) a read that does not block is impossible, and every look-up waits for the disk.
    @Test(
        "Answers from files equal those that made them, with validators, ranges and heads, also after waiting for the disk",
        arguments: ["", resize], [[], ["openat2"]])
    func same(parameters: String, lacking calls: [String]) async throws {
        var proxy = try await Proxy(results: "disk")
        let modified = ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fresh + [modified]))
        let target = proxy.target("/a.jpg", parameters)
        _ = try await proxy.get(target)
        let first = try await proxy.get(target)

        proxy = try await restarted(proxy, without: calls)
        let again = try await proxy.get(target)
        proxy = try await restarted(proxy, without: calls)
        let tag = try #require(first["ETag"])
        let confirmed = try await proxy.get(target, "If-None-Match: \(tag)")
        proxy = try await restarted(proxy, without: calls)
        let part = try await proxy.get(target, "Range: bytes=10-19")

        #expect(again.status == 200 && again.body == first.body)
        for name in [
            "ETag", "Last-Modified", "Content-Type", "Cache-Control", "Date", "Vary", "Content-Disposition",
            "Content-Security-Policy",
        ] {
            #expect(again[name] == first[name], "\(name)")
        }
        #expect(again["Cache-Status"]?.hasSuffix("; detail=disk") == true)
        #expect(confirmed.status == 304 && confirmed.body.isEmpty && confirmed["ETag"] == tag)
        #expect(part.status == 206 && part.body == Array(first.body[10..<20]))
        #expect(proxy.origin.count("/a.jpg") == 1)
    }

    @Test(
        "A file that is requested again is kept open for the next answers", .timeLimit(.minutes(20)),
        arguments: [[], ["openat2"]])
    func keptOpen(lacking calls: [String]) async throws {
        var proxy = try await Proxy(results: "disk")
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fresh))
        let target = proxy.target("/a.jpg")
        _ = try await proxy.get(target)
        proxy = try await restarted(proxy, without: calls)
        let isOpen = { try proxy.daemon.descriptors.values.contains { $0.contains("/originals/") } }

        #expect(try await proxy.get(target).body == Fixtures.photo)
        // The answer is complete a moment before its file is closed.
        while try isOpen() { _ = try await proxy.get("/healthz") }
        for _ in 0..<2 {
            let answer = try await proxy.get(target)
            #expect(
                answer.body == Fixtures.photo && answer["Cache-Status"]?.hasSuffix("; detail=disk") == true)
        }

        #expect(try isOpen())
        #expect(proxy.origin.count("/a.jpg") == 1)
    }

    @Test(
        "A purge by tag ends answers from files, also after another restart", arguments: ["", "&" + resize])
    func purgedByTag(parameters: String) async throws {
        var proxy = try await Proxy(security: "\"unsignedTags\": true", results: "disk")
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fresh))
        let target = proxy.target("/a.jpg", String(parameters.dropFirst()))
        _ = try await proxy.get(target)
        _ = try await proxy.get(target + "&tag=x")
        proxy = try await restarted(proxy)

        #expect(try await proxy.administer("DELETE", "/cache?tag=x").status == 200)
        proxy = try await restarted(proxy)
        let before = proxy.origin.count("/a.jpg")
        let answer = try await proxy.get(target)

        #expect(answer.status == 200)
        #expect(proxy.origin.count("/a.jpg") == before + 1)
    }

    @Test("A refresh of the source under another name applies to all its answers")
    func refreshed() async throws {
        var proxy = try await Proxy(results: "disk")
        proxy.origin.route(
            "/a.jpg",
            inTurn: [
                .body(Fixtures.photo, fields: Self.fresh),
                .body(Fixtures.photo(number: 2), fields: Self.fresh),
            ])
        let target = proxy.target("/a.jpg", Self.resize)
        let first = try await proxy.get(target)
        try await stop(proxy)
        proxy = try await Proxy(
            settings: "\"freshness\": {\"clientDirectives\": true}", results: "disk", in: proxy.folder,
            origin: proxy.origin)
        _ = try await proxy.get(proxy.target("/a.jpg"), "Cache-Control: no-cache")
        proxy = try await restarted(proxy)

        let second = try await proxy.get(target)

        #expect(first.status == 200 && second.status == 200)
        #expect(second["Cache-Status"]?.hasSuffix("; detail=original") == true)
        #expect(proxy.origin.count("/a.jpg") == 2)
    }
}
