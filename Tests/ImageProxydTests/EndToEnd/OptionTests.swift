// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("Options, presets and presentation")
struct OptionTests {
    private static let all = """
        "allowedOptions": ["retry-failed", "refresh-cached", "from-loader-only", "memory-only", "handle-cookies",
        "continue-in-background"]
        """
    private static let fields = [("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=600")]
    private static let small = "transform=resize:30x20&format=png"

    @Test("from-cache-only never requests from the origin; from-loader-only always does, and stores")
    func whereFrom() async throws {
        let proxy = try await Proxy(security: Self.all)
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields))

        let absent = try await proxy.get(proxy.target("/a.jpg", Self.small + "&options=from-cache-only"))
        let loaded = try await proxy.get(proxy.target("/a.jpg", Self.small + "&options=from-loader-only"))
        let cached = try await proxy.get(proxy.target("/a.jpg", Self.small + "&options=from-cache-only"))
        _ = try await proxy.get(proxy.target("/a.jpg", Self.small + "&options=from-loader-only"))

        #expect(absent.status == 504 && absent.code == "not_cached")
        #expect(loaded["Cache-Status"]?.hasSuffix("; stored") == true)
        #expect(cached.status == 200)
        #expect(proxy.origin.count("/a.jpg") == 2)
    }

    @Test(
        "from-cache-only does not even begin to refresh a stale picture that it is answered with from memory")
    func neverRefreshed() async throws {
        let proxy = try await Proxy(security: Self.all)
        let stale = [
            ("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=0, stale-while-revalidate=600"),
        ]
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: stale))
        proxy.origin.routeAll { _ in .body(Fixtures.photo, fields: Self.fields) }
        let target = proxy.target("/a.jpg", Self.small)

        _ = try await proxy.get(target)
        for _ in 0..<3 { #expect(try await proxy.get(target + "&options=from-cache-only").status == 200) }
        // A refresh would be before these.
        for number in 0..<8 { _ = try await proxy.get(proxy.target("/\(number).jpg")) }

        #expect(proxy.origin.count("/a.jpg") == 1)
        _ = try await proxy.get(target)
        await proxy.origin.waitForRequests("/a.jpg", count: 2)
    }

    @Test("retry-failed fetches in spite of the blacklist, and success clears it")
    func retryFailed() async throws {
        let proxy = try await Proxy(security: Self.all)
        proxy.origin.route("/a.jpg", inTurn: [.status(404), .body(Fixtures.photo, fields: Self.fields)])

        let first = try await proxy.get(proxy.target("/a.jpg", Self.small))
        let second = try await proxy.get(proxy.target("/a.jpg", Self.small))
        let retried = try await proxy.get(proxy.target("/a.jpg", Self.small + "&options=retry-failed"))
        let after = try await proxy.get(proxy.target("/a.jpg"))

        #expect([first.status, second.status, retried.status, after.status] == [404, 404, 200, 200])
        #expect(proxy.origin.count("/a.jpg") == 2)
    }

    @Test("memory-only leaves nothing on disk")
    func memoryOnly() async throws {
        let proxy = try await Proxy(security: Self.all)
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields))
        let target = proxy.target("/a.jpg", Self.small + "&options=memory-only")

        _ = try await proxy.get(target)
        let second = try await proxy.get(target)
        let listing = try await proxy.administer("GET", "/cache", about: "/a.jpg").text

        #expect(second["Cache-Status"]?.hasSuffix("detail=memory") == true)
        #expect(listing.contains("\"tier\": \"memory\"") && !listing.contains("\"tier\": \"disk\""))
    }

    @Test("handle-cookies sends the client's own cookies, and shares the answer with no other client")
    func cookies() async throws {
        let proxy = try await Proxy(security: Self.all)
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields))
        let target = proxy.target("/a.jpg", Self.small + "&options=handle-cookies")

        let first = try await proxy.get(target, "Cookie: who=ada")
        let second = try await proxy.get(target, "Cookie: who=bob; a=b")
        let plain = try await proxy.get(proxy.target("/a.jpg", Self.small), "Cookie: who=eve")
        let absent = try await proxy.get(target + ",from-cache-only", "Cookie: who=eve")

        #expect(first["Cache-Control"] == "private, max-age=600")
        #expect(first["Cache-Status"] == "imageproxyd; fwd=request; fwd-status=200")
        #expect(second.status == 200)
        #expect(absent.status == 504 && absent.code == "not_cached")
        #expect(plain["Cache-Status"] == "imageproxyd; fwd=uri-miss; fwd-status=200; stored")
        let sent = await proxy.origin.waitForRequests("/a.jpg", count: 3).requests.map { $0["cookie"] }
        #expect(sent == ["who=ada", "who=bob; a=b", nil])
    }

    @Test("handle-cookies streams the picture while it is received, to its client alone")
    func streamedWithCookies() async throws {
        let proxy = try await Proxy(security: Self.all)
        let picture = Picture()
        let gates = [OriginGate(), OriginGate()]
        proxy.origin.route("/a.jpg", inTurn: gates.map { picture.answer($0) })
        let target = proxy.target("/a.jpg", "options=handle-cookies")
        let path = proxy.daemon.socketPath

        let bodies = try await onThread {
            let clients = try gates.map { _ in
                let client = try RawHTTPClient(unixSocket: path)
                try client.send("GET \(target) HTTP/1.1\r\nHost: a\r\nCookie: who=ada\r\n\r\n")
                let head = try client.head()
                #expect(head["Cache-Control"] == "private, max-age=600")
                #expect(head["Cache-Status"] == "imageproxyd; fwd=request; fwd-status=200")
                return (client, try client.bytes(picture.first.count))
            }
            for gate in gates { gate.open() }
            return try clients.map { client, first in first + (try client.bytes(picture.rest.count)) }
        }

        #expect(bodies.allSatisfy { isSame($0, picture.bytes) })
        #expect(proxy.origin.count("/a.jpg") == 2)
    }

    @Test("handle-cookies ends the transfer when its client disconnects in the middle")
    func leftWithCookies() async throws {
        let proxy = try await Proxy(security: Self.all)
        let picture = Picture()
        proxy.origin.route("/a.jpg", picture.answer(OriginGate()))
        let target = proxy.target("/a.jpg", "options=handle-cookies")
        let path = proxy.daemon.socketPath

        try await onThread {
            let client = try RawHTTPClient(unixSocket: path)
            try client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try client.head()
            _ = try client.bytes(picture.first.count)
            client.hangUp()
        }

        await proxy.origin.waitForDepartures("/a.jpg")
        #expect(proxy.origin.log.completions["/a.jpg"] == nil)
    }

    @Test("continue-in-background finishes and stores although its client has disconnected")
    func background() async throws {
        let proxy = try await Proxy(security: Self.all)
        let gate = OriginGate()
        proxy.origin.route("/a.jpg", OriginAnswer.body(Fixtures.photo, fields: Self.fields).held(by: gate))
        let target = proxy.target("/a.jpg", Self.small + "&options=continue-in-background")
        let path = proxy.daemon.socketPath
        let client = try await onThread {
            let client = try RawHTTPClient(unixSocket: path)
            try client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
            return client
        }
        _ = await proxy.origin.waitForRequests("/a.jpg")

        client.hangUp()
        while try await proxy.metric("imageproxyd_http_connections") > 1 {}
        gate.open()
        let answer = try await proxy.get(proxy.target("/a.jpg", Self.small))

        #expect(answer.status == 200)
        #expect(proxy.origin.count("/a.jpg") == 1)
    }

    @Test("continue-in-background needs permission, because no client waits for its work")
    func backgroundForbidden() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.jpg", .body(Fixtures.photo))

        let answer = try await proxy.get(proxy.target("/a.jpg", "options=continue-in-background"))

        #expect(answer.status == 403 && answer.code == "option_forbidden")
        #expect(proxy.origin.count("/a.jpg") == 0)
    }

    @Test("A preset stands for its parameters, explicit ones win, and one cache entry serves all spellings")
    func presets() async throws {
        let proxy = try await Proxy(
            settings: """
                "presets": {"thumb": {"transform": "resize:30x20:cover", "format": "png", "metadata": "none"}}
                """)
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields))

        let preset = try await proxy.get(proxy.target("/a.jpg", "preset=thumb"))
        let spelt = try await proxy.get(
            proxy.target("/a.jpg", "transform=resize:30x20:cover&format=png&metadata=none"))
        let larger = try await proxy.get(proxy.target("/a.jpg", "preset=thumb&transform=resize:60x40"))
        let unknown = try await proxy.get(proxy.target("/a.jpg", "preset=none"))

        #expect(preset.pngSize == [30, 20])
        #expect(spelt["Cache-Status"]?.hasSuffix("detail=memory") == true)
        #expect(larger.pngSize == [60, 40])
        #expect(unknown.status == 400 && unknown.code == "invalid_parameter")
    }

    @Test("With onlyPresets, other parameters that shape images are forbidden")
    func onlyPresets() async throws {
        let proxy = try await Proxy(
            settings: "\"presets\": {\"thumb\": {\"transform\": \"resize:30x\", \"format\": \"png\"}}",
            security: "\"onlyPresets\": true")
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields))

        let preset = try await proxy.get(proxy.target("/a.jpg", "preset=thumb&filename=a.png"))
        let shaped = try await proxy.get(proxy.target("/a.jpg", "preset=thumb&quality=10"))
        let shrunk = try await proxy.get(proxy.target("/a.jpg", "preset=thumb&options=scale-down-large"))
        let bare = try await proxy.get(proxy.target("/a.jpg"))

        #expect(preset.pngSize == [30, 20])
        #expect(shrunk.status == 403 && shrunk.code == "option_forbidden")
        #expect(shaped.status == 403 && shaped.code == "option_forbidden")
        #expect(shaped.text.contains("security.onlyPresets"))
        #expect(bare.status == 400 && bare.code == "missing_parameter")
    }

    @Test("A placeholder is answered for a source that fails, with the error's own status")
    func placeholder() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(Fixtures.photo, to: "grey.jpg")
        let proxy = try await Proxy(
            settings: "\"placeholders\": {\"grey\": \"\(folder.path)/grey.jpg\"}", in: folder)

        let answer = try await proxy.get(proxy.target("/nothing", "placeholder=grey"))
        let again = try await proxy.get(proxy.target("/nothing", "placeholder=grey"))
        let unknown = try await proxy.get(proxy.target("/nothing", "placeholder=white"))

        #expect(answer.status == 404)
        #expect(answer["Content-Type"] == "image/jpeg")
        #expect(answer.body == Fixtures.photo)
        #expect(again["Cache-Control"]?.hasPrefix("max-age=") == true)
        #expect(unknown.status == 400)
    }

    @Test("A browser gets the file's name in ASCII and in full (RFC 6266)")
    func filename() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields))
        let cases = [
            ("filename=cat.png", "inline; filename=\"cat.png\""),
            ("filename=cat.png&download=1", "attachment; filename=\"cat.png\""),
            ("download=1", "attachment"),
            ("filename=a%22b.png", "inline; filename=\"a\\\"b.png\""),
            (
                "filename=K%C3%A4se%20100%25.png",
                "inline; filename=\"K_se 100%.png\"; filename*=UTF-8''K%C3%A4se%20100%25.png"
            ),
        ]

        for (parameters, disposition) in cases {
            let answer = try await proxy.get(proxy.target("/a.jpg", parameters))
            #expect(answer["Content-Disposition"] == disposition)
        }
    }

    @Test("Invalid values of these parameters are reported with their position")
    func wrong() async throws {
        let proxy = try await Proxy()
        let cases = [
            ("options=refresh", "options", 0), ("options=wait-store,x", "options", 11),
            ("options=from-cache-only,from-cache-only", "options", 16), ("tag=a,b%20c", "tag", 2),
            ("tag=a,,b", "tag", 2), ("filename=a%2Fb", "filename", 1), ("filename=a%0D%0Ab", "filename", 1),
            ("filename=..", "filename", 0), ("expires=soon", "expires", 0), ("download=yes", "download", 0),
            ("url64=aHR0cA", "url", 0),
        ]

        for (parameters, name, position) in cases {
            let answer = try await proxy.get("/img?" + parameters)
            #expect(answer.status == 400)
            let place = "\"parameter\":\"\(name)\",\"position\":\(position)"
            #expect(answer.text.contains(place), "\(answer.text)")
        }
    }

    @Test("url64 names the same source as url")
    func url64() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields))
        let encoded = Base64Text.url(proxy.origin.url("/a.jpg"))

        _ = try await proxy.get(proxy.target("/a.jpg", Self.small))
        let answer = try await proxy.get("/img?url64=\(encoded)&\(Self.small)")

        #expect(answer.pngSize == [30, 20])
        #expect(answer["Cache-Status"]?.hasSuffix("detail=memory") == true)
        #expect(try await proxy.get("/img?url64=\(encoded)&url=http%3A%2F%2Fa%2F").status == 400)
    }

    @Test("Sec-CH-DPR scales sizes of requests with dpr=auto, and their answers vary on it (RFC 8942)")
    func clientHints() async throws {
        let proxy = try await Proxy(settings: "\"http\": {\"clientHints\": true}")
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields))
        let target = proxy.target("/a.jpg", Self.small) + "&dpr=auto"

        let plain = try await proxy.get(target)
        let double = try await proxy.get(target, "Sec-CH-DPR: 2.0")
        let doubleHit = try await proxy.get(target, "Sec-CH-DPR: 2.0")
        let plainHit = try await proxy.get(target)
        let invalid = try await proxy.get(target, "Sec-CH-DPR: two")
        let several = try await proxy.get(target, "Sec-CH-DPR: 2.0", "Sec-CH-DPR: 3.0")
        let half = try await proxy.get(target, "Sec-CH-DPR: .5")
        let parameter = try await proxy.get(target, "Sec-CH-DPR: 2;x=1")

        #expect([plain, plainHit, invalid, several, half].allSatisfy { $0.pngSize == [30, 20] })
        #expect(parameter.pngSize == [60, 40])
        #expect([double.pngSize, doubleHit.pngSize] == [[60, 40], [60, 40]])
        #expect(doubleHit["Cache-Status"]?.hasSuffix("detail=memory") == true)
        #expect(plain["Vary"] == "Sec-CH-DPR" && plain["Accept-CH"] == "Sec-CH-DPR")
    }

    @Test("A candidate of a srcset has its density in its size: Sec-CH-DPR alone does not scale it")
    func candidates() async throws {
        let proxy = try await Proxy(
            settings:
                #""http": {"clientHints": true}, "presets": {"sharp": {"transform": "resize:30x20", "dpr": "auto"}}"#
        )
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields))
        let target = proxy.target("/a.jpg", Self.small)

        let candidate = try await proxy.get(target, "Sec-CH-DPR: 2")
        let explicit = try await proxy.get(target + "&dpr=1", "Sec-CH-DPR: 3")
        let preset = try await proxy.get(target + "&preset=sharp", "Sec-CH-DPR: 2")
        let overridden = try await proxy.get(target + "&preset=sharp&dpr=1", "Sec-CH-DPR: 2")

        #expect(
            [candidate, explicit, overridden].allSatisfy { $0.pngSize == [30, 20] && $0["Vary"] == nil })
        #expect(preset.pngSize == [60, 40] && preset["Vary"] == "Sec-CH-DPR")
    }

    @Test("dpr=auto is refused while client hints are off, naming the setting that enables them")
    func noHints() async throws {
        let proxy = try await Proxy()
        let refused = try await proxy.get(proxy.target("/a.jpg", Self.small) + "&dpr=auto")

        #expect(refused.status == 400 && refused.code == "invalid_parameter")
        #expect(refused.text.contains("http.clientHints"))
    }
}
