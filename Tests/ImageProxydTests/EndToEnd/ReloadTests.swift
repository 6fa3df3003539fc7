// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("A reload by SIGHUP")
struct ReloadTests {
    private static let fields = [("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=600")]

    private static func thumb(_ width: Int) -> String {
        "\"presets\": {\"thumb\": {\"transform\": \"resize:\(width)x\", \"format\": \"png\"}}"
    }

    @Test("has new settings count for the next request, also for a target that memory has answered")
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
        "with settings of which anything is wrong leaves those in force that were, and says why",
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

    @Test("names the settings that need a restart, and goes on with the old ones")
    func restart() async throws {
        let proxy = try await Proxy(settings: Self.thumb(30))
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields))

        try await proxy.reload(
            settings: Self.thumb(60)
                + ", \"fetch\": {\"maxConcurrent\": 3}, \"http\": {\"maxConnections\": 99}")

        #expect(try await proxy.get(proxy.target("/a.jpg", "preset=thumb")).pngSize?.first == 60)
        #expect(
            proxy.daemon.log.contains("these need a restart: http.maxConnections, fetch.maxConcurrent\n")
                || proxy.daemon.log.contains(
                    "these need a restart: http.maxConnections, fetch.maxConcurrent ")
        )
    }

    @Test("has signatures demanded from then on, by a key that is read again each time")
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

    @Test("keeps fetches from networks that are denied then, also over a connection that is kept")
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

    @Test("keeps redirects from sources that are not allowed any more")
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

    @Test("lets what is under way end as it began")
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

    @Test("leaves each metric there once, read from whoever serves then")
    func metrics() async throws {
        let proxy = try await Proxy()

        try await proxy.reload()

        let lines = try await proxy.get("/metrics").text.split(separator: "\n")
        #expect(lines.count { $0.hasPrefix("imageproxyd_host_breakers_open ") } == 1)
        #expect(lines.count { $0.hasPrefix("imageproxyd_flights{flight=\"fetch\"}") } == 1)
    }
}
