// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Primitives
import TestSupport
import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("Prefetching")
struct PrefetchTests {
    /// A proxy whose origin has photos that may be stored, at `/0.jpg` and so on.
    static func proxy(
        photos: Int = 3, settings: String = "", security: String = "", in folder: TemporaryDirectory? = nil,
        origin: FakeOrigin? = nil, environment: [String] = []
    ) async throws -> Proxy {
        let proxy = try await Proxy(
            settings: settings, security: security, in: folder, origin: origin, environment: environment)
        for number in 0..<photos {
            // Other bytes for each, so that nothing is the same by chance.
            proxy.origin.route("/\(number).jpg", photo(number))
        }
        return proxy
    }

    static func photo(_ number: Int) -> OriginAnswer {
        .body(
            Fixtures.photo + Array("\(number)".utf8), type: "image/jpeg",
            fields: [("Cache-Control", "max-age=600")])
    }

    static func object(_ answer: RawHTTPClient.Answer) throws -> JSONValue {
        var parser = JSONParser(answer.body)
        return try parser.parse()
    }

    /// Sends an order for photos of the origin.
    static func order(
        _ proxy: Proxy, _ paths: [String], _ members: JSONValue = ["transforms": .strings(["resize:20x"])]
    ) async throws -> RawHTTPClient.Answer {
        let body = members.setting(["urls"], to: .strings(paths.map { proxy.origin.url($0) }))
        return try await proxy.send(Array(body.compact.utf8), to: "/prefetch", byAdmin: true)
    }

    static func paths(_ count: Int) -> [String] { (0..<count).map { "/\($0).jpg" } }

    /// What becomes of an order.
    static func end(of token: String, at proxy: Proxy) async throws -> PrefetchProgress {
        try await progress(of: token, at: proxy) { $0.ended != nil }
    }

    /// The first state of an order that is wanted, from the stream of its events: they come once a second while it changes.
    static func progress(
        of token: String, at proxy: Proxy, until isWanted: @escaping @Sendable (PrefetchProgress) -> Bool
    ) async throws -> PrefetchProgress {
        let path = proxy.folder.path + "/cache/admin.sock"
        return try await onThread {
            let client = try RawHTTPClient(unixSocket: path)
            defer { client.hangUp() }
            try client.send("GET /prefetch/\(token)/events HTTP/1.1\r\nHost: a\r\n\r\n")
            try #require(try client.head().status == 200)
            // Each chunk is one event.
            while let chunk = try client.chunk() {
                let lines = String(decoding: chunk, as: UTF8.self).split(separator: "\n")
                guard let data = lines.first(where: { $0.hasPrefix("data: ") }) else { continue }
                var parser = JSONParser(Array(data.utf8.dropFirst(6)))
                let progress = try #require(PrefetchProgress(try parser.parse()), "\(data)")
                if isWanted(progress) { return progress }
            }
            return try #require(nil as PrefetchProgress?, "the order has ended otherwise")
        }
    }

    static func token(_ answer: RawHTTPClient.Answer) throws -> String { try object(answer).text("token") }

    @Test("An order makes its images once, from one fetch for all sizes; another one skips them")
    func order() async throws {
        let proxy = try await Self.proxy()
        let plan: JSONValue = ["transforms": .strings(["resize:20x", "resize:40x", "resize:60x"])]

        let answer = try await Self.order(proxy, Self.paths(3), plan)
        let token = try Self.token(answer)
        let first = try await Self.end(of: token, at: proxy)
        let second = try await Self.end(
            of: try Self.token(try await Self.order(proxy, Self.paths(3), plan)), at: proxy)

        #expect(answer.status == 202 && answer["Location"] == "/prefetch/\(token)")
        #expect(first.state == .done && first.finished == 9 && first.bytes > 1_000 && first.failed == 0)
        #expect(second.state == .done && second.skipped == 9 && second.finished == 0 && second.bytes == 0)
        #expect(Self.paths(3).allSatisfy { proxy.origin.count($0) == 1 })
        let hit = try await proxy.get(
            proxy.target("/0.jpg", "transform=resize:40x"), "Accept: image/avif,image/webp,*/*")
        #expect(
            hit["Cache-Status"]?.contains("hit") == true
                && hit["Cache-Status"]?.contains("detail=disk") == true)
        #expect(try await proxy.metric(#"imageproxyd_prefetch_total{outcome="made"}"#) == 9)
        #expect(try await proxy.metric(#"imageproxyd_prefetch_total{outcome="skipped"}"#) == 9)
        #expect(try await proxy.metric("imageproxyd_prefetch_bytes_total") == Double(first.bytes))
        #expect(try await proxy.metric("imageproxyd_prefetch_waiting") == 0)
    }

    @Test("Originals are prefetched where nothing else is said; memory is left to what clients request")
    func originals() async throws {
        let proxy = try await Self.proxy()

        let originals = try await Self.end(
            of: try Self.token(try await Self.order(proxy, Self.paths(3), [:])), at: proxy)
        let sizes = try await Self.end(
            of: try Self.token(try await Self.order(proxy, Self.paths(3))), at: proxy)
        let memory = try await proxy.metric(#"imageproxyd_cache_bytes{tier="memory",kind="result"}"#)
        let hit = try await proxy.get(proxy.target("/0.jpg"))

        #expect(originals.finished == 3 && originals.bytes == 3 * (Fixtures.photo.count + 1))
        #expect(sizes.finished == 3 && memory == 0)
        #expect(hit.status == 200 && hit["Cache-Status"]?.contains("hit") == true)
        #expect(Self.paths(3).allSatisfy { proxy.origin.count($0) == 1 })
    }

    @Test("One fetch serves all sizes, too, where no tier stores originals and where they are stale at once")
    func oneFetch() async throws {
        let proxy = try await Self.proxy(environment: ["IMAGEPROXYD_CACHE_ORIGINALS=none"])
        proxy.origin.route(
            "/stale.jpg",
            .body(Fixtures.photo, type: "image/jpeg", fields: [("Cache-Control", "max-age=0")]))

        let answer = try await Self.order(
            proxy, ["/0.jpg", "/stale.jpg"], ["transforms": .strings(["resize:20x", "resize:40x"])])
        let end = try await Self.end(of: try Self.token(answer), at: proxy)

        #expect(end.finished == 4)
        #expect(proxy.origin.count("/0.jpg") == 1 && proxy.origin.count("/stale.jpg") == 1)
    }

    @Test("Images are those of a client with the same parameters, also of presets and for browsers")
    func sameImages() async throws {
        let proxy = try await Self.proxy(
            settings: #""presets": {"thumb": {"transform": "resize:16x16:cover", "format": "auto"}}"#)

        let answer = try await Self.order(proxy, ["/0.jpg"], ["presets": .strings(["thumb"])])
        let end = try await Self.end(of: try Self.token(answer), at: proxy)
        let hit = try await proxy.get(
            proxy.target("/0.jpg", "preset=thumb"), "Accept: image/avif,image/webp,image/png,*/*;q=0.5")

        #expect(end.finished == 1)
        #expect(hit["Cache-Status"]?.contains("hit") == true, "\(hit["Cache-Status"] ?? "")")
    }

    @Test(
        "Failures are counted with reasons and do not hold up the others; what failed is not requested again")
    func failures() async throws {
        let proxy = try await Self.proxy(security: #""sources": ["http://127.0.0.1:*/*"]"#)
        proxy.origin.route("/text.jpg", .body(Array("hello".utf8), type: "text/plain"))
        proxy.origin.route(
            "/private.jpg", .body(Fixtures.photo, type: "image/jpeg", fields: [("Cache-Control", "no-store")])
        )
        let body: JSONValue = [
            "urls": .strings(
                ["/missing.jpg", "/text.jpg", "/private.jpg", "/0.jpg"].map { proxy.origin.url($0) } + [
                    "http://other.example/x.jpg", "no url",
                ]), "transforms": .strings(["resize:20x", "resize:40x"]),
        ]

        let answer = try await proxy.send(Array(body.compact.utf8), to: "/prefetch", byAdmin: true)
        let end = try await Self.end(of: try Self.token(answer), at: proxy)
        _ = try await Self.end(
            of: try Self.token(
                try await proxy.send(Array(body.compact.utf8), to: "/prefetch", byAdmin: true)), at: proxy)

        #expect(end.state == .done && end.finished == 2 && end.failed == 10)
        let counts = Dictionary(uniqueKeysWithValues: end.reasons.map { ($0.code, $0.count) })
        #expect(
            counts == [
                "upstream_not_found": 2, "not_an_image": 2, "not_stored": 2, "source_forbidden": 2,
                "invalid_url": 2,
            ])
        #expect(end.reasons.first { $0.code == "invalid_url" }?.examples == ["no url"])
        #expect(proxy.origin.count("/missing.jpg") == 1 && proxy.origin.count("/text.jpg") == 1)
        #expect(proxy.origin.count("/0.jpg") == 1)
    }

    @Test(
        "Wrong parameters are refused at once",
        arguments: [
            (#"{"urls": ["http://a.example/"], "transforms": ["resiz:20x"]}"#, 400, "invalid_parameter"),
            (#"{"urls": ["http://a.example/"], "presets": ["none"]}"#, 400, "invalid_parameter"),
            (#"{"urls": ["http://a.example/"], "quality": 700}"#, 400, "invalid_parameter"),
            (#"{"urls": []}"#, 400, "invalid_content"), ("", 400, "invalid_content"),
            ("{", 400, "invalid_content"),
            (
                #"{"urls": [\#(Array(repeating: "\"\"", count: 200_000).joined(separator: ","))]}"#, 413,
                "content_too_large"
            ),
            (
                #"{"urls": ["\#(String(repeating: "x", count: 1 << 20))"]}"#, 413,
                "content_too_large"
            ),
        ])
    func refused(content: String, status: Int, code: String) async throws {
        let proxy = try await Self.proxy(photos: 0, settings: #""http": {"maxBodyBytes": "4MiB"}"#)

        let answer = try await proxy.send(Array(content.utf8), to: "/prefetch", byAdmin: true)

        #expect(answer.status == status && answer.code == code, "\(answer.text)")
        #expect(try Self.object(try await proxy.administer("GET", "/prefetch")).rows("history").isEmpty)
    }

    @Test("A content beyond what the listener takes at all is refused with the same words")
    func tooLarge() async throws {
        let proxy = try await Self.proxy(photos: 0)

        let answer = try await proxy.send(
            [UInt8](repeating: 0x20, count: 3 << 20), to: "/prefetch", byAdmin: true)

        #expect(answer.status == 413 && answer.text.contains("POST /prefetch/TOKEN"), "\(answer.text)")
    }

    @Test("Unknown orders, wrong methods and the public listener are refused")
    func unknown() async throws {
        let proxy = try await Self.proxy(photos: 0)
        let token = PrefetchProgress.newToken()

        #expect(try await proxy.administer("GET", "/prefetch/\(token)").code == "no_such_order")
        #expect(try await proxy.administer("GET", "/prefetch/\(token)/events").status == 404)
        #expect(try await proxy.administer("DELETE", "/prefetch/\(token)").status == 404)
        #expect(try await proxy.send([0x7B, 0x7D], to: "/prefetch/\(token)", byAdmin: true).status == 404)
        #expect(try await proxy.administer("DELETE", "/prefetch").status == 405)
        #expect(try await proxy.administer("GET", "/prefetch/a/b").status == 404)
        #expect(try await proxy.administer("OPTIONS", "/prefetch")["Allow"] == "GET, HEAD, POST, OPTIONS")
        #expect(try await proxy.get("/prefetch").status == 404)
        #expect(try await proxy.send([0x7B, 0x7D], to: "/prefetch").status >= 404)
    }

    @Test("The admin token is needed, and no content is taken without it")
    func access() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(Array("0123456789abcdef\n".utf8), to: "token")
        let proxy = try await Self.proxy(
            settings: #""admin": {"token": "\#(folder.path)/token"}"#, in: folder)
        let body = Array(#"{"urls": ["\#(proxy.origin.url("/0.jpg"))"]}"#.utf8)

        let refused = try await proxy.send(body, to: "/prefetch", byAdmin: true)
        let taken = try await proxy.send(
            body, to: "/prefetch", ["Authorization: Bearer 0123456789abcdef"], byAdmin: true)

        #expect(refused.status == 401 && taken.status == 202)
    }

    @Test("A cancelled order ends at once, and gives up what it is fetching")
    func cancel() async throws {
        let proxy = try await Self.proxy()
        proxy.origin.route("/held.jpg", .silence)
        let token = try Self.token(try await Self.order(proxy, ["/held.jpg", "/1.jpg", "/2.jpg"]))
        await proxy.origin.waitForRequests("/held.jpg")

        let cancelled = try Self.object(try await proxy.administer("DELETE", "/prefetch/\(token)"))
        await proxy.origin.waitForDepartures("/held.jpg")

        #expect(cancelled.text("state") == "cancelled")
        let list = try Self.object(try await proxy.administer("GET", "/prefetch"))
        #expect(list.rows("history").map { $0.text("token") } == [token])
        #expect(list.rows("running").isEmpty && list.int("waitingBytes") == 0)
        #expect(try await proxy.send([0x7B, 0x7D], to: "/prefetch/\(token)", byAdmin: true).status == 409)
    }

    @Test(
        "An origin that does not answer leaves a place to others, and an order of thousands a turn to others")
    func fairness() async throws {
        let proxy = try await Self.proxy()
        let slow = try FakeOrigin(address: "127.0.0.2")
        let urls = (0..<1_000).map { slow.url("/\($0).jpg") }
        for number in 0..<1_000 { slow.route("/\(number).jpg", .silence) }
        let body: JSONValue = ["urls": .strings(urls), "transforms": .strings(["resize:20x"])]
        let first = try Self.token(
            try await proxy.send(Array(body.compact.utf8), to: "/prefetch", byAdmin: true))
        await slow.wait { $0.requests.count == 2 }

        let end = try await Self.end(
            of: try Self.token(try await Self.order(proxy, Self.paths(3))), at: proxy)

        #expect(end.finished == 3 && slow.log.requests.count == 2)
        let list = try Self.object(try await proxy.administer("GET", "/prefetch"))
        #expect(list.rows("running").map { $0.text("token") } == [first] && list.int("waitingImages") == 998)
        // And those of clients.
        #expect(try await proxy.get(proxy.target("/0.jpg", "transform=resize:30x")).status == 200)
    }

    @Test("Sources can be added to an open order until the last ones come")
    func pieces() async throws {
        let proxy = try await Self.proxy()
        let token = try Self.token(
            try await Self.order(
                proxy, ["/0.jpg"], ["transforms": .strings(["resize:20x"]), "more": .bool(true)]))
        let half = try await Self.progress(of: token, at: proxy) { $0.finished == 1 }
        let wrong = try await proxy.send(
            Array(#"{"urls": [], "transforms": ["flip"]}"#.utf8), to: "/prefetch/\(token)", byAdmin: true)
        let last = try await proxy.send(
            Array(#"{"urls": ["\#(proxy.origin.url("/1.jpg"))"]}"#.utf8), to: "/prefetch/\(token)",
            byAdmin: true)

        let end = try await Self.end(of: token, at: proxy)

        #expect(half.state == .running && half.ended == nil && wrong.status == 400 && last.status == 202)
        #expect(end.state == .done && end.finished == 2 && end.urls == 2)
    }

    @Test("Readers of events get the progress, and the end as the last event")
    func events() async throws {
        let proxy = try await Self.proxy()
        let gate = OriginGate()
        proxy.origin.route("/held.jpg", Self.photo(9).held(by: gate))
        let token = try Self.token(try await Self.order(proxy, ["/held.jpg"]))
        let path = proxy.folder.path + "/cache/admin.sock"
        let client = try await onThread { try RawHTTPClient(unixSocket: path) }
        try client.send("GET /prefetch/\(token)/events HTTP/1.1\r\nHost: a\r\n\r\n")

        let head = try await onThread { try client.head() }
        var text = try await Self.chunk(client) ?? ""
        let first = text
        gate.open()
        while let more = try await Self.chunk(client) { text += more }

        #expect(head["Content-Type"] == "text/event-stream")
        #expect(
            first.contains("event: prefetch\ndata: {\"token\": \"\(token)\"")
                && first.contains(#""ended": null"#))
        #expect(text.contains(#""state": "done""#) && text.contains(#""finished": 1"#))
        let late = try await proxy.administer("GET", "/prefetch/\(token)/events")
        #expect(late.text.contains(#""state": "done""#))
    }

    private static func chunk(_ client: RawHTTPClient) async throws -> String? {
        try await onThread { try client.chunk().map { String(decoding: $0, as: UTF8.self) } }
    }

    @Test(
        "The history survives a restart and a kill; what ran then is interrupted",
        arguments: [SIGTERM, SIGKILL])
    func restart(signal: Int32) async throws {
        let folder = try TemporaryDirectory()
        let origin = try FakeOrigin()
        var tokens: [String] = []
        do {
            let proxy = try await Self.proxy(in: folder, origin: origin)
            origin.route("/held.jpg", .silence)
            tokens.append(try Self.token(try await Self.order(proxy, Self.paths(3))))
            _ = try await Self.end(of: tokens[0], at: proxy)
            tokens.append(try Self.token(try await Self.order(proxy, ["/held.jpg", "/1.jpg"])))
            await origin.waitForRequests("/held.jpg")
            let (saved, token) = (try FolderWatch(folder.path + "/cache"), Array(tokens[1].utf8))
            try await onThread {
                try saved.wait { try folder.read("cache/prefetch.json").contains(token) }
            }
            proxy.daemon.send(signal: signal)
            if signal == SIGTERM { _ = try await proxy.daemon.exitCode() }
        }
        let proxy = try await Self.proxy(in: folder, origin: origin)

        let list = try Self.object(try await proxy.administer("GET", "/prefetch"))

        #expect(list.rows("history").map { $0.text("token") } == tokens.reversed())
        #expect(list.rows("history").map { $0.text("state") } == ["interrupted", "done"])
        #expect(list.rows("history").last?.int("finished") == 3 && list.rows("running").isEmpty)
    }

    @Test(
        "A damaged file of orders is as good as none",
        arguments: ["{", #"{"orders": [1, {}, {"token": "x"}]}"#])
    func damaged(content: String) async throws {
        let folder = try TemporaryDirectory()
        try folder.write(Array(content.utf8), to: "cache/prefetch.json")
        let proxy = try await Self.proxy(in: folder)

        let end = try await Self.end(
            of: try Self.token(try await Self.order(proxy, ["/0.jpg"])), at: proxy)

        #expect(end.state == .done)
        #expect(try Self.object(try await proxy.administer("GET", "/prefetch")).rows("history").count == 1)
    }

    @Test("A full queue is 503 with the time to come back, and clients' requests are answered beside it")
    func full() async throws {
        let proxy = try await Self.proxy(
            settings: #""prefetch": {"queueBytes": "1MiB", "maxConcurrent": 1}"#)
        proxy.origin.route("/held.jpg", .silence)
        let many = (0..<4_000).map { "/held.jpg?\($0)" }

        let first = try await Self.order(proxy, many)
        let second = try await Self.order(proxy, many)

        #expect(first.status == 202 && second.status == 503 && second["Retry-After"] == "1")
        #expect(second.code == "queue_full")
        #expect(try await proxy.get(proxy.target("/0.jpg", "transform=resize:30x")).status == 200)
    }
}
