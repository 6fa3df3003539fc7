// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@Suite("The log of a failed request")
struct FailureLogTests {
    /// The daemon's log of `targets` after it has ended.
    private func log(
        _ settings: String = "", security: String = "", _ targets: (Proxy) throws -> [String]
    ) async throws -> [Substring] {
        let proxy = try await Proxy(settings: settings, security: security)
        for (number, target) in try targets(proxy).enumerated() {
            _ = try await proxy.get(target)
            // An answer's line follows the answer: without this, those of two event loops could change places.
            while requests(in: proxy.daemon.log).count <= number { _ = try await proxy.get("/healthz") }
        }
        proxy.daemon.send(signal: SIGTERM)
        _ = try await proxy.daemon.exitCode()
        return requests(in: proxy.daemon.log)
    }

    private func requests(in log: String) -> [Substring] {
        log.split(separator: "\n").filter { $0.contains(" request ") && !$0.contains(" path=/healthz ") }
    }

    private func target(_ url: String) -> String {
        "/img?url=" + url.map { "/:?&=%".contains($0) ? escaped($0) : String($0) }.joined()
    }

    private func escaped(_ character: Character) -> String {
        character.utf8.map { "%" + String($0, radix: 16, uppercase: true) }.joined()
    }

    @Test(
        "A refused connection, a name without an address and an untrusted certificate are each logged as such"
    )
    func reasons() async throws {
        let closed = try HeldPort()
        let secure = try TLSOrigin(file: "a.jpg", Fixtures.photo)

        let lines = try await log { _ in
            [closed.url("/a.jpg"), "http://nowhere.invalid/a.jpg", secure.url].map(target)
        }

        try #require(lines.count == 3)
        #expect(
            lines[0].contains(
                "url_host=127.0.0.1 url_port=\(closed.port) problem=upstream_unreachable "
                    + "reason=\"connection refused\""))
        #expect(
            lines[1].contains(
                "url_host=nowhere.invalid url_port=80 problem=upstream_unreachable "
                    + "reason=\"the name does not resolve\""))
        #expect(lines[2].contains("problem=tls_failed reason=\"SSL certificate problem: "))
    }

    @Test("The families of the addresses that were tried, and the redirects that were followed, are logged")
    func way() async throws {
        let closed = try HeldPort()

        let lines = try await log { proxy in
            proxy.origin.route("/a.jpg", .redirect(to: "/b.jpg"))
            proxy.origin.route("/b.jpg", .redirect(to: "/c.jpg"))
            proxy.origin.route("/c.jpg", .body(Fixtures.photo))
            return [proxy.target("/a.jpg", "transform=resize:9x"), target(closed.url("/a.jpg"))]
        }

        try #require(lines.count == 2)
        #expect(lines[0].hasSuffix(" address_family=ipv4 redirects=2"))
        #expect(lines[1].contains(" address_family=ipv4") && !lines[1].contains("redirects="))
    }

    @Test("The line contains the origin's status, and the failed target of a redirect")
    func statusAndHop() async throws {
        let closed = try HeldPort()

        let lines = try await log { proxy in
            proxy.origin.route("/busy.jpg", .status(503))
            proxy.origin.route("/moved.jpg", .status(302, fields: [("Location", closed.url("/a.jpg"))]))
            return [proxy.target("/busy.jpg"), proxy.target("/moved.jpg")]
        }

        try #require(lines.count == 2)
        #expect(lines[0].contains("problem=upstream_status upstream_status=503"))
        #expect(lines[1].contains("reason=\"connection refused\" hop=127.0.0.1:\(closed.port)"))
    }

    @Test(
        "A forbidden address, a forbidden redirect and a response that is no image are logged with their reasons"
    )
    func refusals() async throws {
        let lines = try await log { proxy in
            proxy.origin.route("/file", .redirect(to: "ftp://files.example/etc/passwd"))
            proxy.origin.route("/user", .redirect(to: "https://me:secret@users.example/"))
            proxy.origin.route("/page", .body(Array("<!doctype html>".utf8)))
            return [
                target("http://10.0.0.1/a.jpg"), proxy.target("/file"), proxy.target("/page"),
                target("http://127.0.0.1:22/a.jpg"), proxy.target("/user"),
            ]
        }

        let expected = [
            "url_host=10.0.0.1 url_port=80 problem=address_forbidden reason=\"the address is denied, or in a private network",
            "reason=\"a redirect leads to a forbidden URL: its scheme is neither http nor https\" hop=files.example",
            "it has a user name or a password\" hop=users.example:443",
            "problem=not_an_image reason=\"the response does not begin as an image of a known format\"",
            "url_port=22 problem=address_forbidden reason=\"security.ports does not allow port 22\"",
        ]
        for text in expected { #expect(lines.contains { $0.contains(text) }, "\(text) in \(lines)") }
    }

    @Test(
        "A source that is not allowed is logged with its URL, as is one with a forbidden option or a wrong parameter"
    )
    func refusedSource() async throws {
        let lines = try await log(
            "\"log\": {\"url\": \"full\"}", security: "\"sources\": [\"http://a.example/*\"]"
        ) {
            _ in
            [
                "/img?url=http%3A%2F%2Fb.example%2Fc.jpg",
                "/img?options=retry-failed&url=http%3A%2F%2Fa.example%2F",
                "/img?url=http%3A%2F%2Fa.example%2F&quality=0", "/info?url=http%3A%2F%2Fb.example%2F",
            ]
        }

        try #require(lines.count == 4)
        for text in [
            "url_host=b.example url_port=80 url=http://b.example/c.jpg problem=source_forbidden",
            "url_host=a.example url_port=80 url=http://a.example/ problem=option_forbidden",
            "url=http://a.example/ problem=invalid_parameter parameter=quality",
            "url=http://b.example/ problem=source_forbidden",
        ] {
            #expect(lines.contains { $0.contains(text) }, "\(text) in \(lines)")
        }
    }

    @Test("The code of every problem document is logged, also of those that no pipeline has made")
    func codes() async throws {
        let proxy = try await Proxy(
            settings: #""http": {"trustedProxies": ["10.0.0.0/8"]}"#,
            security: #""rateLimit": {"requests": 1, "window": "1h", "burst": 1}"#)
        for target in ["/nowhere", "/a b c", "/" + String(repeating: "a", count: 8_192)] {
            _ = try await proxy.get(target)
        }
        for _ in 0..<2 { _ = try await proxy.get("/img", "X-Forwarded-For: 192.0.2.1") }
        _ = try await proxy.ask("POST", "/img")
        _ = try await proxy.administer("GET", "/nowhere")
        _ = try await proxy.administer("DELETE", "/cache?what=1")
        proxy.daemon.send(signal: SIGTERM)
        _ = try await proxy.daemon.exitCode()
        let lines = requests(in: proxy.daemon.log)

        for text in [
            "path=/nowhere route=other status=404", "problem=too_many_requests", "problem=bad_request",
            "problem=uri_too_long", "problem=method_not_allowed", "problem=unknown_parameter parameter=what",
        ] {
            #expect(lines.contains { $0.contains(text) && $0.contains("problem=") }, "\(text) in \(lines)")
        }
        #expect(lines.count { $0.contains("problem=not_found") } == 2, "\(lines)")
    }

    @Test("A body beyond the limit is logged with the request's path and route, and the setting")
    func largeBody() async throws {
        let proxy = try await Proxy(settings: #""http": {"maxBodyBytes": "1KiB"}"#)
        let body = [UInt8](repeating: 0x61, count: 2_000)
        let chunked = Array("7d0\r\n".utf8) + body
        let answers = [
            try await proxy.send(body, to: "/img?a=b"), try await proxy.send(body, to: "/elsewhere?a=b"),
            try await proxy.sendChunked(chunked, to: "/img"),
            try await proxy.send(body, to: "/img", byAdmin: true),
        ]
        proxy.daemon.send(signal: SIGTERM)
        _ = try await proxy.daemon.exitCode()

        let lines = requests(in: proxy.daemon.log)
        #expect(answers.map(\.status) == [413, 413, 413, 413])
        #expect(lines.count == 4)
        for (place, count) in [
            ("path=/img route=img", 2), ("path=/elsewhere route=other", 1), ("path=/img route=admin", 1),
        ] {
            let fitting = lines.filter { $0.contains(" \(place) status=413 ") }
            #expect(fitting.count == count, "\(lines)")
            #expect(
                fitting.allSatisfy {
                    $0.contains("problem=content_too_large reason=\"the body may have at most 1024 bytes")
                }, "\(lines)")
        }
    }

    @Test("A failure beyond a limit says the setting and the numbers, to the client and in the log")
    func limits() async throws {
        let proxy = try await Proxy(
            settings: #""fetch": {"maxBytes": "200KiB", "maxRedirects": 2}, "limits": {"outputPixels": 1000}"#
        )
        proxy.origin.route("/photo.jpg", .body(Fixtures.photo))
        proxy.origin.route("/broken.jpg", .body(Array(Fixtures.photo.prefix(5_000))))
        proxy.origin.route("/large", .body([UInt8](repeating: 0xFF, count: 300_000)))
        proxy.origin.route("/loop", .redirect(to: "/loop"))
        proxy.origin.route("/lost", .status(302))
        proxy.origin.route(
            "/a.bmp",
            .body(
                Array("BM".utf8) + [UInt8](repeating: 0, count: 12) + [40] + [UInt8](repeating: 0, count: 39))
        )
        let cases = [
            (proxy.target("/photo.jpg", "transform=resize:90x60"), "limits.outputPixels is 1000"),
            (
                proxy.target("/photo.jpg", "frame=7&transform=resize:9x6"),
                "the image has only one frame, number 0"
            ),
            (
                proxy.target("/photo.jpg", "transform=resize:9x6&format=jpeg&max_bytes=10"),
                "max_bytes is 10, and the smallest is "
            ),
            (
                proxy.target("/photo.jpg", "transform=resize:9x6,crop:2x2:x=50:y=50"),
                "crop lies outside the picture, which is 9x"
            ),
            (proxy.target("/large"), "it has more bytes than fetch.maxBytes allows"),
            (proxy.target("/loop"), "more than fetch.maxRedirects, which is 2"),
            (proxy.target("/lost"), "a redirect has no Location"),
            (proxy.target("/a.bmp"), "'BMP' is not supported"),
        ]
        for (target, text) in cases {
            let answer = try await proxy.get(target)
            #expect(answer.text.contains(text), "\(target): \(answer.text)")
        }
        _ = try await proxy.get(proxy.target("/broken.jpg", "transform=resize:9x6"))
        proxy.daemon.send(signal: SIGTERM)
        _ = try await proxy.daemon.exitCode()

        let lines = requests(in: proxy.daemon.log)
        try #require(lines.count == cases.count + 1)
        for (_, text) in cases {
            #expect(lines.contains { $0.contains(" reason=\"") && $0.contains(text) }, "\(text) in \(lines)")
        }
        #expect(lines.contains { $0.contains("problem=bad_image_data reason=") }, "\(lines)")
    }

    @Test("A failing fetch.proxy is logged as the hop that failed, with the reason")
    func failingProxy() async throws {
        let closed = try HeldPort()
        let secure = try TLSOrigin(file: "a.jpg", Fixtures.photo)
        let other = try FakeOrigin()
        let securePort = secure.url.dropFirst("https://127.0.0.1:".count).prefix { $0 != "/" }
        for (proxy, hop, source, reason) in [
            ("http://127.0.0.1:\(closed.port)", "127.0.0.1:\(closed.port)", "http", "connection refused"),
            ("socks5h://127.0.0.1:\(closed.port)", "127.0.0.1:\(closed.port)", "https", "connection refused"),
            ("http://nowhere.invalid", "nowhere.invalid:1080", "http", "the name does not resolve"),
            ("https://127.0.0.1:\(securePort)", "127.0.0.1:\(securePort)", "https", "SSL certificate"),
            ("http://127.0.0.1:\(other.port)/", "127.0.0.1:\(other.port)", "https", "CONNECT tunnel failed"),
        ] {
            let lines = try await log(
                #""fetch": {"proxy": "\#(proxy)", "retries": 0}"#, security: #""trustFetchProxy": true"#
            ) { _ in [target("\(source)://pictures.example/a.jpg")] }

            let line = try #require(lines.first)
            #expect(line.contains(" reason=\"fetch.proxy: \(reason)"), "\(line)")
            #expect(line.contains(" hop=\(hop)"), "\(line)")
        }
        withExtendedLifetime((closed, secure, other)) {}
    }

    @Test("A proxy that does not connect to the origin in time is logged as the hop that failed")
    func silentProxy() async throws {
        let silent = try ListeningSocket(port: 0)

        // Real time, as little as can be set: the daemon is a process, whose clock no test advances.
        let lines = try await log(
            #""fetch": {"proxy": "http://127.0.0.1:\#(silent.port)", "connectTimeout": "1ms"}"#,
            security: #""trustFetchProxy": true"#
        ) { _ in [target("https://pictures.example/a.jpg")] }

        #expect(
            lines.first?.contains(
                "reason=\"fetch.proxy: no connection within fetch.connectTimeout\" "
                    + "hop=127.0.0.1:\(silent.port)") == true, "\(lines)")
    }

    @Test("A source or status that is not accepted says the setting, to the client and in the log")
    func unaccepted() async throws {
        let origin = try FakeOrigin()
        let long = origin.url("/" + String(repeating: "a", count: 8_100) + "/")
        let proxy = try await Proxy(
            settings: """
                "origins": [{"match": "\(origin.url("/found/*"))", "acceptStatus": [404]},
                    {"match": "\(origin.url("/long/*"))",
                     "rewrite": {"from": "\(origin.url("/long/"))", "to": "\(long)"}}]
                """, security: "\"sources\": [\"\(origin.url("/*"))\"]", origin: origin)
        origin.route("/found/a.jpg", .body(Fixtures.photo))
        origin.route("/created.jpg", .status(201))
        let cases = [
            ("/img?url=http%3A%2F%2Fb.example%2F", "no pattern of security.sources allows it"),
            (proxy.target("//found/a.jpg"), "another rule of origins"),
            (proxy.target("/long/" + String(repeating: "b", count: 100)), "the rewrite of its origin rule"),
            (
                proxy.target("/found/a.jpg"),
                "the origin answered 200, whose body is taken only where acceptStatus of an origin rule names it"
            ),
            (proxy.target("/created.jpg"), "the origin answered 201, whose body is taken only where"),
        ]
        for (target, text) in cases {
            let answer = try await proxy.get(target)
            #expect(answer.text.contains("\"detail\":") && answer.text.contains(text), "\(answer.text)")
        }
        proxy.daemon.send(signal: SIGTERM)
        _ = try await proxy.daemon.exitCode()

        let lines = requests(in: proxy.daemon.log)
        for (_, text) in cases {
            #expect(lines.contains { $0.contains(" reason=\"") && $0.contains(text) }, "\(text) in \(lines)")
        }
    }

    @Test("A signature for a daemon without keys is logged as such")
    func noKeys() async throws {
        let lines = try await log { proxy in [proxy.target("/a.jpg", "sig=abc")] }

        #expect(
            lines.first?.contains("problem=signature_mismatch reason=\"security.keys names no key\"") == true,
            "\(lines)")
    }

    @Test("A refresh in the background that fails is logged with its source and its reason")
    func refresh() async throws {
        let proxy = try await Proxy()
        let stale = [("Cache-Control", "max-age=0, stale-while-revalidate=600")]
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: stale))
        _ = try await proxy.get(proxy.target("/a.jpg"))
        proxy.origin.route("/a.jpg", .status(503))

        #expect(try await proxy.get(proxy.target("/a.jpg")).status == 200)

        while !proxy.daemon.log.contains("a refresh in the background failed") {
            _ = try await proxy.get("/healthz")
        }
        let line = proxy.daemon.log.split(separator: "\n").first {
            $0.contains("a refresh in the background")
        }
        #expect(line?.contains("problem=upstream_status") == true, "\(line ?? "")")
        #expect(line?.contains("url_host=127.0.0.1") == true && line?.contains("upstream_status=503") == true)
    }

    @Test("The line of a client that left before its answer says whose picture it wanted")
    func left() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.jpg", Picture().answer(OriginGate()))
        let target = proxy.target("/a.jpg", "transform=resize:9x")

        let client = try RawHTTPClient(unixSocket: proxy.daemon.socketPath)
        try client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
        await proxy.origin.waitForRequests("/a.jpg")
        client.hangUp()
        await proxy.origin.waitForDepartures("/a.jpg")
        while requests(in: proxy.daemon.log).isEmpty { _ = try await proxy.get("/healthz") }
        proxy.daemon.send(signal: SIGTERM)
        _ = try await proxy.daemon.exitCode()

        let line = try #require(requests(in: proxy.daemon.log).first)
        #expect(line.contains("status=499") && line.contains("problem=client_left"), "\(line)")
        #expect(line.contains("url_host=127.0.0.1 url_port=\(proxy.origin.port)"), "\(line)")
    }

    @Test("A remembered failure is logged with its reason again, and as one that was remembered")
    func remembered() async throws {
        let secure = try TLSOrigin(file: "a.jpg", Fixtures.photo)

        let lines = try await log { _ in [secure.url, secure.url].map(target) }

        try #require(lines.count == 2)
        #expect(lines.allSatisfy { $0.contains("reason=\"SSL certificate problem: ") })
        #expect(lines[0].contains(" cache=none ") && lines[1].contains(" cache=failure "))
    }

    @Test(
        "log.url decides how much of the source's URL is logged; secrets never are",
        arguments: [
            ("none", ""), ("host", " url_host=127.0.0.1 url_port=PORT"),
            ("path", " url_host=127.0.0.1 url_port=PORT url=http://127.0.0.1:PORT/a.jpg"),
            ("full", " url_host=127.0.0.1 url_port=PORT url=\"http://127.0.0.1:PORT/a.jpg?w=9&token=***\""),
        ])
    func detail(level: String, said: String) async throws {
        let closed = try HeldPort()

        let lines = try await log("\"log\": {\"url\": \"\(level)\"}") { _ in
            [target(closed.url("/a.jpg?w=9&token=hush"))]
        }

        let line = try #require(lines.first)
        #expect(line.contains(said.replacing("PORT", with: "\(closed.port)") + " problem="))
        #expect(line.contains("reason=\"connection refused\""))
        #expect(!line.contains("hush"))
        if level == "none" { #expect(!line.contains("127.0.0.1")) }
    }
}
