// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("A reload by SIGHUP")
struct ReloadTests {
    private static let fields = [("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=600")]

    private static func thumb(_ width: Int) -> String {
        "\"presets\": {\"thumb\": {\"transform\": \"resize:\(width)x\", \"format\": \"png\"}}"
    }

    @Test("New settings apply to the next request, also for a target that memory has answered")
    func swaps() async throws {
        let proxy = try await Proxy(settings: Self.thumb(30))
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields))
        let target = proxy.target("/a.jpg", "preset=thumb")
        for _ in 0..<2 { #expect(try await proxy.get(target).pngSize?.first == 30) }

        let notifications = try await proxy.reload(settings: Self.thumb(60))

        #expect(try await proxy.get(target).pngSize?.first == 60)
        #expect(notifications.first?.contains("RELOADING=1\nMONOTONIC_USEC=") == true)
        #expect(notifications.last?.contains("STATUS=serving") == true)
        #expect(proxy.daemon.log.contains("reloaded: presets.thumb.transform;"))
        // The tiers are the same: nothing was fetched again.
        #expect(proxy.origin.count("/a.jpg") == 1)
    }

    @Test(
        "With one invalid setting, all settings stay in force, and the reason is logged",
        arguments: [
            "\"presets\": 5", "\"nonsense\": true", "\"origins\": [{\"match\": \"https://*\", \"auth\": 1}]",
            "\"security\": {\"keys\": [\"/nonexistent\"]}",
        ])
    func refuses(settings: String) async throws {
        let proxy = try await Proxy(settings: Self.thumb(30))
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields))

        let notifications = try await proxy.reload(settings: settings)

        #expect(try await proxy.get(proxy.target("/a.jpg", "preset=thumb")).pngSize?.first == 30)
        #expect(notifications.last?.contains("reload refused") == true)
        #expect(proxy.daemon.log.contains("the settings stay as they were"))
    }

    @Test(
        "After a reload, no tier sends unchanged a picture that a new rule re-encodes",
        arguments: ["", "format=source"])
    func reencodes(parameters: String) async throws {
        let proxy = try await Proxy()
        for path in ["/memory.jpg", "/disk.jpg"] {
            proxy.origin.route(path, .body(Fixtures.photo, fields: Self.fields))
            #expect(isSame(try await proxy.get(proxy.target(path, parameters)).body, Fixtures.photo))
        }
        #expect(isSame(try await proxy.get(proxy.target("/memory.jpg", parameters)).body, Fixtures.photo))

        try await proxy.reload(
            settings: "\"origins\": [{\"match\": \"\(proxy.origin.url("/*"))\", \"reencode\": true}]")
        _ = try await proxy.administer("DELETE", "/cache", about: "/disk.jpg", "tier=memory")

        for path in ["/memory.jpg", "/disk.jpg"] {
            for _ in 0..<3 {
                let answer = try await proxy.get(proxy.target(path, parameters))
                #expect(answer.status == 200)
                #expect(!isSame(answer.body, Fixtures.photo), "\(path)")
            }
            let head = try await proxy.ask("HEAD", proxy.target(path, parameters))
            #expect(head["Content-Length"] != "\(Fixtures.photo.count)")
            // The original is still valid: it need not be fetched again.
            #expect(proxy.origin.count(path) == 1)
        }
    }

    @Test(
        "After a reload, originals of another format than a new rule's are fetched again, and stored in that format",
        arguments: [true, false])
    func storesAs(isInMemory: Bool) async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields + [("ETag", "\"a\"")]))
        let target = proxy.target("/a.jpg")
        #expect(try await proxy.get(target)["Content-Type"] == "image/jpeg")
        let small = proxy.target("/a.jpg", "transform=resize:30x&format=png")
        #expect(try await proxy.get(small).pngSize?.first == 30)

        try await proxy.reload(
            settings: "\"origins\": [{\"match\": \"\(proxy.origin.url("/*"))\", \"storeAs\": \"webp\"}]")
        if !isInMemory { _ = try await proxy.administer("DELETE", "/cache", about: "/a.jpg", "tier=memory") }

        for _ in 0..<3 { #expect(try await proxy.get(target)["Content-Type"] == "image/webp") }
        #expect(try await proxy.get(small).pngSize?.first == 30)
        #expect(proxy.origin.count("/a.jpg") == 2)
        #expect(proxy.origin.log.requests.last?["if-none-match"] == nil)
    }

    @Test("A reload names the settings that need a restart, and continues with their old values")
    func restart() async throws {
        let proxy = try await Proxy(settings: Self.thumb(30))
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields))

        try await proxy.reload(
            settings: Self.thumb(60)
                + ", \"fetch\": {\"via\": \"other\"}, \"http\": {\"maxConnections\": 99}")

        #expect(try await proxy.get(proxy.target("/a.jpg", "preset=thumb")).pngSize?.first == 60)
        #expect(
            proxy.daemon.log.contains("these need a restart: http.maxConnections, fetch.via\n")
                || proxy.daemon.log.contains(
                    "these need a restart: http.maxConnections, fetch.via ")
        )
    }

    @Test("After a reload, signatures are required, by a key file that is read again each time")
    func keys() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields))
        let target = proxy.target("/a.jpg")
        #expect(try await proxy.get(target).status == 200)
        try proxy.folder.write([UInt8](repeating: 7, count: 32), to: "key")

        try await proxy.reload(security: "\"keys\": [\"\(proxy.folder.path)/key\"]")
        let unsigned = try await proxy.get(target)
        try await proxy.reload()
        let open = try await proxy.get(target)

        #expect(unsigned.status == 403)
        #expect(open.status == 200)
    }

    @Test("After a reload, fetches from denied networks are refused, also over a persistent connection")
    func networks() async throws {
        let proxy = try await Proxy()
        for path in ["/a.jpg", "/b.jpg"] {
            proxy.origin.route(path, .body(Fixtures.photo, fields: Self.fields))
        }
        #expect(try await proxy.get(proxy.target("/a.jpg")).status == 200)

        try await proxy.reload(security: "\"deniedNetworks\": [\"127.0.0.0/8\"]")
        let denied = try await proxy.get(proxy.target("/b.jpg"))

        #expect(denied.code == "address_forbidden")
        #expect(proxy.origin.count("/b.jpg") == 0)
    }

    @Test("After a reload, fetches use other bounds and fields, also over a persistent connection")
    func fetches() async throws {
        let proxy = try await Proxy()
        for path in ["/a.jpg", "/b.jpg", "/c.jpg"] {
            proxy.origin.route(path, .body(Fixtures.photo, fields: Self.fields))
        }
        #expect(try await proxy.get(proxy.target("/a.jpg")).status == 200)

        try await proxy.reload(
            settings: "\"fetch\": {\"userAgent\": \"other\", \"headers\": {\"X-Us\": \"1\"}}")
        #expect(try await proxy.get(proxy.target("/b.jpg")).status == 200)
        try await proxy.reload(settings: "\"fetch\": {\"maxBytes\": \"1KiB\"}")
        let large = try await proxy.get(proxy.target("/c.jpg"))

        #expect(large.code == "source_too_large")
        let requests = proxy.origin.log.requests
        #expect(requests.map { $0["user-agent"] } == ["imageproxyd", "other", "imageproxyd"])
        #expect(requests.map { $0["x-us"] } == [nil, "1", nil])
        #expect(proxy.origin.log.connections == 1)
        // What was stored under the old bound stays.
        #expect(try await proxy.get(proxy.target("/a.jpg")).status == 200)
    }

    @Test("After a reload, an origin that does not answer times out sooner")
    func times() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.jpg", .silence)

        // Real time, as little as can be set: the daemon is a process, whose clock no test advances.
        try await proxy.reload(settings: "\"fetch\": {\"firstByteTimeout\": \"1ms\"}")

        #expect(try await proxy.get(proxy.target("/a.jpg")).code == "upstream_timeout")
    }

    @Test("After a reload, failures are remembered for another time, and those remembered are kept")
    func failures() async throws {
        let proxy = try await Proxy()
        for path in ["/a.jpg", "/b.jpg"] { proxy.origin.route(path, .status(404)) }
        _ = try await proxy.get(proxy.target("/a.jpg"))

        try await proxy.reload(settings: "\"failedURLs\": {\"ttl\": {\"notFound\": \"0s\"}}")
        for _ in 0..<2 { #expect(try await proxy.get(proxy.target("/a.jpg")).status == 404) }
        for _ in 0..<2 { #expect(try await proxy.get(proxy.target("/b.jpg")).status == 404) }

        #expect(proxy.origin.count("/a.jpg") == 1)
        #expect(proxy.origin.count("/b.jpg") == 2)
    }

    @Test("After a reload, redirects from sources that are no longer allowed are refused")
    func redirects() async throws {
        let proxy = try await Proxy()
        let other = try FakeOrigin()
        other.route("/b.jpg", .body(Fixtures.photo, fields: Self.fields))
        proxy.origin.route("/a.jpg", .redirect(to: other.url("/b.jpg")))

        try await proxy.reload(security: "\"sources\": [\"\(proxy.origin.url("/*"))\"]")
        let answer = try await proxy.get(proxy.target("/a.jpg"))

        #expect(answer.code == "source_forbidden")
        #expect(other.count("/b.jpg") == 0)
    }

    @Test("Requests in progress end under the settings with which they began")
    func underWay() async throws {
        let proxy = try await Proxy()
        let gate = OriginGate()
        let picture = Picture()
        proxy.origin.route("/a.jpg", picture.answer(gate))
        let target = proxy.target("/a.jpg")
        let path = proxy.daemon.socketPath
        let client = try await onThread {
            let client = try RawHTTPClient(unixSocket: path)
            try client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.head().status == 200)
            #expect(isSame(try client.bytes(picture.first.count), picture.first))
            return client
        }

        try await proxy.reload(security: "\"deniedNetworks\": [\"127.0.0.0/8\"]")
        gate.open()

        let rest = try await onThread { try client.bytes(picture.rest.count) }
        #expect(isSame(rest, picture.rest))
        #expect(try await proxy.get(target)["Cache-Status"]?.hasSuffix("detail=memory") == true)
    }

    @Test("After a reload each metric exists once, and reads the current parts")
    func metrics() async throws {
        let proxy = try await Proxy()

        try await proxy.reload()

        let lines = try await proxy.get("/metrics").text.split(separator: "\n")
        #expect(lines.count { $0.hasPrefix("imageproxyd_host_breakers_open ") } == 1)
        #expect(lines.count { $0.hasPrefix("imageproxyd_tasks{task=\"fetch\"}") } == 1)
    }
}
