// SPDX-License-Identifier: Apache-2.0

import Primitives
import TestSupport
import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("The playground's routes")
struct PlaygroundTests {
    @Test("The page is at / and /playground of both listeners, under a policy that lets it load nothing else")
    func page() async throws {
        let proxy = try await Proxy()

        for target in ["/", "/playground"] {
            let open = try await proxy.get(target)
            #expect(open.status == 200 && open["Content-Type"] == "text/html; charset=utf-8")
            #expect(open["Content-Security-Policy"] == WebPages.contentSecurityPolicy)
            #expect(open["X-Content-Type-Options"] == "nosniff" && open["Referrer-Policy"] == "no-referrer")
            #expect(open["Cache-Control"] == "no-cache")
            #expect(try await proxy.administer("GET", target).body == open.body)
            let head = try await proxy.ask("HEAD", target)
            #expect(head.status == 200 && head.body.isEmpty && head["ETag"] == open["ETag"])
            let known = try await proxy.get(target, "If-None-Match: \(try #require(open["ETag"]))")
            #expect(known.status == 304 && known.body.isEmpty)
        }
    }

    @Test("Every file is answered with its type, on both listeners")
    func files() async throws {
        let proxy = try await Proxy()

        for (path, bytes) in WebPages.files where path.hasPrefix("playground/") {
            for answer in [try await proxy.get("/\(path)"), try await proxy.administer("GET", "/\(path)")] {
                #expect(answer.status == 200 && answer.body == bytes)
                #expect(WebPages.types.values.contains(answer["Content-Type"] ?? ""), "\(path)")
            }
        }
        #expect(try await proxy.get("/playground/nothing.js").status == 404)
        #expect(try await proxy.get("/?url=x").status == 404)
        #expect(try await proxy.ask("POST", "/").status == 405)
        #expect(try await proxy.ask("OPTIONS", "/playground")["Allow"] == "GET, HEAD, OPTIONS")
        #expect(try await proxy.administer("DELETE", "/").status == 405)
    }

    @Test("playground: false removes it from the public listener alone")
    func off() async throws {
        let proxy = try await Proxy(settings: #""playground": false"#)

        for target in [
            "/", "/playground", "/playground/settings", "/translate?url=/unsafe/300x/http://a.example/b",
        ] {
            #expect(try await proxy.get(target).status == 404)
            #expect(try await proxy.administer("GET", target).status == 200)
        }
    }

    @Test("Other proxies' URLs that begin with / keep /, and the page stays at /playground")
    func besideDialect() async throws {
        let proxy = try await Proxy(settings: #""dialects": [{"name": "weserv"}]"#)

        #expect(try await proxy.get("/")["Content-Type"] != "text/html; charset=utf-8")
        #expect(try await proxy.get("/playground")["Content-Type"] == "text/html; charset=utf-8")
        #expect(try await proxy.get("/playground/settings").status == 200)
    }

    @Test("What needs the admin token is refused without it, and the files are not")
    func token() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(Array("0123456789abcdef".utf8), to: "token")
        let proxy = try await Proxy(
            settings: #""admin": {"token": "\#(folder.path)/token"}"#, in: folder)

        #expect(try await proxy.administer("GET", "/").status == 200)
        let guarded = [
            ("GET", "/playground/settings"), ("GET", "/translate?url=/x"),
            ("GET", "/img?url=http%3A%2F%2Fa.example%2Fb"),
            ("GET", "/info?url=http%3A%2F%2Fa.example%2Fb"), ("POST", "/sign?target=/img"),
        ]
        for (method, target) in guarded {
            #expect(try await proxy.administer(method, target).status == 401, "\(target)")
        }
        let shown = try await proxy.administer(
            "GET", "/playground/settings", "Authorization: Bearer 0123456789abcdef")
        #expect(shown.status == 200)
    }

    @Test("What /sign of the admin listener signs is answered by both listeners, and nothing else is")
    func sign() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(Array("0123456789abcdef".utf8), to: "key")
        let proxy = try await Proxy(security: #""keys": ["\#(folder.path)/key"]"#, in: folder)
        proxy.origin.route("/photo.jpg", .body(Fixtures.photo))
        let target = proxy.target("/photo.jpg", "transform=resize:10x7:fill&format=png")

        let answer = try await proxy.administer("POST", "/sign?target=\(Self.encoded(target))")

        let signed = try #require(Self.member("target", of: answer))
        #expect(signed.hasPrefix(target + "&sig="))
        #expect(try await proxy.get(signed).pngSize == [10, 7])
        #expect(try await proxy.administer("GET", signed).pngSize == [10, 7])
        #expect(try await proxy.administer("GET", target).code == "signature_required")
        #expect(try await proxy.administer("POST", "/sign?target=\(Self.encoded(signed))").status == 400)
        #expect(try await proxy.administer("POST", "/sign?target=img").code == "invalid_parameter")
        #expect(try await proxy.administer("POST", "/sign").code == "missing_parameter")
        #expect(try await proxy.administer("GET", "/sign?target=/img").status == 405)
        #expect(try await proxy.ask("POST", "/sign?target=/img").status == 404)
    }

    @Test(
        "What a page of another site sends to the admin listener is refused (Fetch Metadata §2.2)",
        arguments: [
            (["Sec-Fetch-Site: cross-site"], false), (["Sec-Fetch-Site: same-site"], false),
            (["Origin: http://other.example"], false), (["Origin: null"], false),
            (["Origin: http://a:8080"], false), (["Sec-Fetch-Site: cross-site", "Origin: http://a"], false),
            (["Sec-Fetch-Site: same-origin", "Origin: http://a"], true), (["Sec-Fetch-Site: none"], true),
            (["Origin: http://a"], true), (["Origin: https://A"], true), ([], true),
        ])
    func otherSites(lines: [String], isAllowed: Bool) async throws {
        let folder = try TemporaryDirectory()
        try folder.write(Array("0123456789abcdef".utf8), to: "key")
        let proxy = try await Proxy(security: #""keys": ["\#(folder.path)/key"]"#, in: folder)

        let changes = [
            ("POST", "/sign?target=/img"), ("DELETE", "/failed?all=1"),
            ("PURGE", "/img?url=http://b.example/c"),
        ]
        for (method, target) in changes {
            let answer = try await proxy.administer(method, target, lines: lines)
            #expect((answer.code == "other_site") == !isAllowed, "\(method): \(answer.text)")
            #expect(isAllowed || answer.status == 403)
        }
        // What only reads is what a link leads to.
        #expect(try await proxy.administer("GET", "/playground/settings", lines: lines).status == 200)
    }

    @Test("Without a key, /sign says so")
    func noKey() async throws {
        let proxy = try await Proxy()

        let answer = try await proxy.administer("POST", "/sign?target=/img")

        #expect(answer.status == 409 && answer.code == "no_key")
    }

    @Test("/translate says what another proxy's URL means, whose it is, and what has no effect")
    func translate() async throws {
        let proxy = try await Proxy()
        let thumbor = Self.encoded("https://t.example/unsafe/300x200/https://a.example/b.jpg")

        let guessed = try await proxy.get("/translate?url=\(thumbor)")

        #expect(Self.member("dialect", of: guessed) == "thumbor")
        let target = try #require(Self.member("target", of: guessed))
        #expect(target.hasPrefix("/img?url=https:") && target.contains("resize:300x200"))
        #expect(try await proxy.get("/translate?url=\(thumbor)&dialect=thumbor").body == guessed.body)
        #expect(try await proxy.get("/translate?url=/unsafe/rs:nonsense/plain/x").code == "untranslated")
        let other = try await proxy.get("/translate?url=http://a.example/photo.jpg")
        #expect(other.status == 200 && other.text.contains(#""dialect": null, "target": null"#))
        #expect(try await proxy.get("/translate?url=hello").code == "invalid_parameter")
        #expect(try await proxy.get("/translate?url=/a&dialect=none").code == "invalid_parameter")
        #expect(try await proxy.get("/translate").code == "missing_parameter")
        #expect(try await proxy.get("/translate?url=/a&other=1").code == "unknown_parameter")
    }

    @Test("A path in a URL of Next.js or Cloudflare is one of the site that the URL is of")
    func siteOfTranslation() async throws {
        let proxy = try await Proxy()
        func target(_ url: String) async throws -> String? {
            Self.member("target", of: try await proxy.get("/translate?url=\(Self.encoded(url))"))
        }

        let next = try await target("https://a.example/_next/image?url=%2Fcat.jpg&w=640&q=75")
        let absolute = try await target("/_next/image?url=https%3A%2F%2Fb.example%2Fcat.jpg&w=640&q=75")
        let cloudflare = try await target("https://a.example/cdn-cgi/image/width=80/cat.jpg")

        #expect(next?.hasPrefix("/img?url=https://a.example/cat.jpg&") == true, "\(next ?? "-")")
        #expect(absolute?.hasPrefix("/img?url=https://b.example/cat.jpg&") == true, "\(absolute ?? "-")")
        #expect(
            cloudflare?.hasPrefix("/img?url=https://a.example/cat.jpg&") == true, "\(cloudflare ?? "-")")
    }

    @Test("Where the public listener can't translate a URL, it says that the settings may")
    func withoutSettings() async throws {
        let proxy = try await Proxy(
            settings: #""dialects": [{"name": "imgix", "prefix": "/i/", "base": "http://a.example/"}]"#)
        let target = "/translate?url=\(Self.encoded("/i/cat.jpg?w=300"))"

        let failure = try await proxy.get(target)

        #expect(failure.code == "untranslated" && failure.text.contains("/translate of the admin listener"))
        #expect(
            Self.member("target", of: try await proxy.administer("GET", target))?.contains("a.example")
                == true)
        let other = try await proxy.get("/translate?url=/unsafe/rs:nonsense/plain/x")
        #expect(!other.text.contains("admin listener"))
    }

    @Test(
        "A URL of this proxy with its parameters in the path is shown in the other form, a picture's is not")
    func pathForm() async throws {
        let proxy = try await Proxy()
        func target(_ url: String) async throws -> String? {
            Self.member("target", of: try await proxy.get("/translate?url=\(Self.encoded(url))"))
        }

        let own = try await target("https://p.example/img/transform=resize:300x/https://a.example/b.jpg")

        #expect(
            own?.hasPrefix("/img?transform=resize:300x&url=https://a.example/b.jpg") == true, "\(own ?? "-")")
        #expect(try await target("https://a.example/img/cat.jpg") == nil)
    }

    @Test("Operators' translations are by the dialect that is answered at the URL's path")
    func place() async throws {
        let proxy = try await Proxy(settings: #""dialects": [{"name": "weserv", "prefix": "/resize/"}]"#)
        let url = Self.encoded("https://p.example/resize/?url=https://a.example/b.jpg&w=300")

        let answer = try await proxy.administer("GET", "/translate?url=\(url)")

        #expect(Self.member("dialect", of: answer) == "weserv", "\(answer.text)")
    }

    @Test("The secrets of configured dialects are for operators' translations alone")
    func secrets() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(Array("1eb5b0e971ad7f45324c1bb15c947cb2".utf8), to: "key")
        let proxy = try await Proxy(
            settings: """
                "dialects": [{"name": "imgproxy", "prefix": "/i/", "keys": ["\(folder.path)/key"], \
                "salts": ["\(folder.path)/key"]}]
                """, in: folder)
        let target = "/translate?url=/wrong/w:20/plain/http://a.example/b"

        #expect(try await proxy.get(target).status == 200)
        #expect(try await proxy.administer("GET", target).code == "signature_mismatch")
    }

    @Test("The page learns what it may do, and the names that signed URLs alone may use are for operators")
    func facts() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(Array("0123456789abcdef".utf8), to: "key")
        let presets =
            #""presets": {"thumb": {"transform": "resize:10x"}}, "playgroundSamples": ["http://a.example/b"]"#
        let open = try await Proxy(settings: presets)
        let signed = try await Proxy(
            settings: presets, security: #""keys": ["\#(folder.path)/key"]"#, in: folder)

        let openFacts = try await open.get("/playground/settings").text
        let signedFacts = try await signed.get("/playground/settings").text
        let adminFacts = try await signed.administer("GET", "/playground/settings").text

        #expect(openFacts.contains(#""needsSignature": false, "canSign": false, "takesUploads": false"#))
        #expect(openFacts.contains(#""presets": ["thumb"]"#) && openFacts.contains("http://a.example/b"))
        #expect(signedFacts.contains(#""needsSignature": true, "canSign": false"#))
        #expect(signedFacts.contains(#""presets": []"#))
        #expect(adminFacts.contains(#""needsSignature": true, "canSign": true, "takesUploads": true"#))
        #expect(adminFacts.contains(#""presets": ["thumb"]"#))
    }

    @Test("The clients' rate counts translations, too")
    func rate() async throws {
        let proxy = try await Proxy(
            settings: #""http": {"trustedProxies": ["10.0.0.0/8"]}"#,
            security: #""rateLimit": {"requests": 1, "window": "1d", "burst": 1}"#)

        let answers = try await ["/translate", "/translate"].asyncMap {
            try await proxy.get($0, "X-Forwarded-For: 192.0.2.1")
        }

        #expect(answers.map(\.status) == [400, 429] && answers[1]["Retry-After"] != nil)
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.map { "%" + String(Int($0) + 0x100, radix: 16).dropFirst() }.joined()
    }

    /// A text in a JSON object.
    private static func member(_ name: String, of answer: RawHTTPClient.Answer) -> String? {
        var parser = JSONParser(answer.body)
        guard case .string(let text)? = (try? parser.parse())?[name] else { return nil }
        return text
    }
}
