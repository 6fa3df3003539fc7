// SPDX-License-Identifier: Apache-2.0

import Primitives
import TestSupport
import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("The live view")
struct StatsTests {
    private static let token = "0123456789abcdef"

    /// The first event of the stream.
    private static func event(of proxy: Proxy, _ lines: String = "") async throws -> JSONValue {
        let path = proxy.folder.path + "/cache/admin.sock"
        return try await onThread {
            let client = try RawHTTPClient(unixSocket: path)
            defer { client.hangUp() }
            try client.send("GET /stats/events HTTP/1.1\r\nHost: a\r\n\(lines)\r\n")
            _ = try client.head()
            let text = String(decoding: try #require(try client.chunk()), as: UTF8.self)
            let data = try #require(text.split(separator: "\n").first { $0.hasPrefix("data: ") })
            #expect(text.hasPrefix("retry: 2000\n\nevent: stats\ndata: ") && text.hasSuffix("}\n\n"))
            var parser = JSONParser(Array(data.dropFirst(6).utf8))
            return try parser.parse()
        }
    }

    /// What has been answered is counted when it has been sent, so the numbers may come a moment later.
    private static func event(of proxy: Proxy, after requests: Int) async throws -> JSONValue {
        while true {
            let event = try await event(of: proxy)
            if ["2xx", "4xx"].reduce(0, { $0 + event.int("statuses", $1) }) == requests { return event }
        }
    }

    @Test("Requests count by tier and status, and those that needed work by host, preset and failure")
    func counts() async throws {
        let proxy = try await Proxy(
            settings: """
                "presets": {"thumb": {"transform": "resize:10x"}}, "log": {"url": "path"}
                """)
        proxy.origin.route("/photo.jpg", .body(Fixtures.photo))
        let target = proxy.target("/photo.jpg", "preset=thumb&format=png")
        for _ in 1...3 { #expect(try await proxy.get(target).status == 200) }
        #expect(try await proxy.get(proxy.target("/missing.jpg")).status == 404)

        let event = try await Self.event(of: proxy, after: 4)

        #expect(event.int("answers", "miss") == 1 && event.int("answers", "memory") == 2)
        #expect(event.int("answers", "none") == 1)
        #expect(event.int("statuses", "2xx") == 3 && event.int("statuses", "4xx") == 1)
        #expect(event.list("latency", "counts").reduce(0, +) == 4)
        #expect(event.list("latency", "counts").count == event.list("latency", "microseconds").count + 1)
        #expect(event.int("fetches", "ok") == 1 && event.int("transforms", "ok") == 1)
        #expect(event.int("memory", "cacheEntries") >= 1 && event.int("memory", "resident") > 1 << 20)
        #expect(["starting", "idle", "busy"].reduce(0) { $0 + event.int("workers", $1) } == 2)
        let hosts = event.rows("recent", "hosts")
        #expect(hosts.map { $0.int("count") } == [2] && hosts.map { $0.int("failures") } == [1])
        #expect(hosts.first?.text("host").hasPrefix("127.0.0.1:") == true)
        #expect(event.rows("recent", "presets").map { $0.text("preset") } == ["thumb"])
        #expect(event.rows("recent", "failures").map { $0.text("code") } == ["upstream_not_found"])
        #expect(event.rows("recent", "slow").first?.text("source").hasSuffix("/photo.jpg") == true)
    }

    @Test("Hosts and URLs appear as far as log.url permits")
    func privacy() async throws {
        let proxy = try await Proxy(settings: #""log": {"url": "none"}"#)
        proxy.origin.route("/photo.jpg", .body(Fixtures.photo))
        #expect(try await proxy.get(proxy.target("/photo.jpg", "transform=resize:10x")).status == 200)

        let event = try await Self.event(of: proxy, after: 1)

        #expect(event.rows("recent", "hosts").isEmpty)
        #expect(event.rows("recent", "slow").map { $0.text("source") } == [""])
    }

    @Test("The page and its files are on the admin listener alone, and need no token; the numbers do")
    func access() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(Array(Self.token.utf8), to: "token")
        let proxy = try await Proxy(
            settings: #""admin": {"token": "\#(folder.path)/token"}"#, in: folder)

        let page = try await proxy.administer("GET", "/stats")

        #expect(page.status == 200 && page["Content-Type"] == "text/html; charset=utf-8")
        #expect(page["Content-Security-Policy"] == WebPages.contentSecurityPolicy)
        for path in WebPages.files.keys where path.hasPrefix("stats/") {
            #expect(try await proxy.administer("GET", "/\(path)").status == 200)
            #expect(try await proxy.get("/\(path)").status == 404)
        }
        #expect(try await proxy.get("/stats").status == 404)
        #expect(try await proxy.get("/stats/events").status == 404)
        #expect(try await proxy.administer("GET", "/stats/events").status == 401)
        #expect(try await proxy.administer("POST", "/stats/events").status == 405)
        _ = try await Self.event(of: proxy, "Authorization: Bearer \(Self.token)\r\n")
    }

    @Test("Every file that a page names is part of the program, and no page names anything else")
    func references() throws {
        let page = String(decoding: try #require(WebPages.files["stats/index.html"]), as: UTF8.self)

        let names = page.matches(of: #/(?:href|src)="([^"]*)"/#).map { String($0.output.1) }

        #expect(names.contains("stats/stats.js") && names.contains("playground/theme.css"))
        for name in names where !["./", "stats", "docs", "#main"].contains(name) {
            #expect(WebPages.files[name] != nil, "\(name)")
        }
        #expect(!page.contains("http:") && !page.contains("https:") && !page.contains("style="))
    }

    @Test("A reload ends the streams, which come back under the new settings")
    func reload() async throws {
        let proxy = try await Proxy()
        let path = proxy.folder.path + "/cache/admin.sock"
        let client = try RawHTTPClient(unixSocket: path)
        try client.send("GET /stats/events HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try await onThread { try client.head() }

        try proxy.folder.write(Array(Self.token.utf8), to: "token")
        try await proxy.reload(settings: #""admin": {"token": "\#(proxy.folder.path)/token"}"#)

        try await onThread { while try client.chunk() != nil {} }
        #expect(try await proxy.administer("GET", "/stats/events").status == 401)
        let event = try await Self.event(of: proxy, "Authorization: Bearer \(Self.token)\r\n")
        #expect(["starting", "idle", "busy"].reduce(0) { $0 + event.int("workers", $1) } == 2)
    }
}
