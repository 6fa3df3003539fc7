// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("Origin rules in the daemon")
struct OriginRuleEndToEndTests {
    private func proxy(_ rule: String, in folder: TemporaryDirectory? = nil) async throws -> Proxy {
        try await Proxy(
            settings:
                #""origins": [{"match": "https://other.example/*"}, {"match": "http://127.0.0.1:*/*", \#(rule)}]"#,
            in: folder)
    }

    @Test(
        "cacheKey.dropQuery: URLs that differ in a dropped parameter are one source, fetched with the first one's"
    )
    func dropQuery() async throws {
        let proxy = try await proxy(#""cacheKey": {"dropQuery": ["sig", "utm_*"]}"#)
        proxy.origin.route("/a.jpg", .body(Fixtures.photo))

        for query in ["?w=1&sig=one", "?w=1&sig=two", "?utm_source=x&w=1", "?w=2"] {
            #expect(try await proxy.get(proxy.target("/a.jpg" + query)).status == 200)
        }

        #expect(proxy.origin.log.requests.map(\.target) == ["/a.jpg?w=1&sig=one", "/a.jpg?w=2"])
    }

    @Test("cacheKey.dropQuery: a refusal because of a dropped parameter is remembered for that value alone")
    func droppedRefusal() async throws {
        let proxy = try await proxy(#""cacheKey": {"dropQuery": ["sig"]}"#)
        proxy.origin.route("/a.jpg") { request in
            request.target == "/a.jpg?sig=good" ? .body(Fixtures.photo) : .status(403)
        }

        for query in ["?sig=bad", "?sig=bad", ""] {
            #expect(try await proxy.get(proxy.target("/a.jpg" + query)).code == "upstream_status")
        }
        let good = try await proxy.get(proxy.target("/a.jpg?sig=good"))

        #expect(good.status == 200)
        #expect(
            proxy.origin.log.requests.map(\.target) == ["/a.jpg?sig=bad", "/a.jpg", "/a.jpg?sig=good"])
        #expect(try await proxy.get(proxy.target("/a.jpg?sig=bad")).status == 200, "a fresh copy is for all")
    }

    @Test("cacheKey.dropQuery: requests that differ in a dropped parameter share no fetch that is under way")
    func droppedFetch() async throws {
        let proxy = try await proxy(#""cacheKey": {"dropQuery": ["sig"]}"#)
        let gate = OriginGate()
        proxy.origin.route("/a.jpg") { request in
            request.target == "/a.jpg?sig=good"
                ? .body(Fixtures.photo) : OriginAnswer.status(403).held(by: gate)
        }

        async let hostile = proxy.get(proxy.target("/a.jpg?sig=bad"))
        await proxy.origin.waitForRequests("/a.jpg")
        let good = try await proxy.get(proxy.target("/a.jpg?sig=good"))
        gate.open()

        #expect(good.status == 200)
        #expect(try await hostile.status == 502)
    }

    @Test(
        "cacheKey.dropQuery: a 404 that a dropped parameter may have caused removes no copies",
        arguments: ["?utm_source=gone", ""])
    func droppedAbsence(query: String) async throws {
        let proxy = try await proxy(#""cacheKey": {"dropQuery": ["utm_*"]}"#)
        proxy.origin.route("/a.jpg") { request in
            guard request.target == "/a.jpg?utm_source=mail" else { return .status(404) }
            let fields = [("Cache-Control", "no-cache"), ("ETag", "\"1\"")]
            return request["if-none-match"] == nil
                ? .body(Fixtures.photo, fields: fields) : OriginAnswer.status(304, fields: fields)
        }
        let target = proxy.target("/a.jpg?utm_source=mail")
        #expect(try await proxy.get(target).status == 200)

        #expect(try await proxy.get(proxy.target("/a.jpg" + query)).status == 404)

        #expect(try await proxy.get(target).status == 200)
        #expect(proxy.origin.log.requests.last?["if-none-match"] == "\"1\"")
    }

    @Test("responseContentType: a refusal names the media type, and not the bytes")
    func mediaType() async throws {
        let proxy = try await proxy(#""responseContentType": ["image/png"]"#)
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, type: "image/jpeg"))

        let answer = try await proxy.get(proxy.target("/a.jpg"))
        proxy.daemon.send(signal: 15)
        _ = try await proxy.daemon.exitCode()

        let reason = "Content-Type image/jpeg is none of responseContentType"
        #expect(answer.code == "not_an_image" && answer.text.contains(reason), "\(answer.text)")
        #expect(proxy.daemon.log.contains("problem=not_an_image reason=\"\(reason)\""))
    }

    @Test("responseTTL replaces the origin's lifetime")
    func lifetime() async throws {
        let proxy = try await proxy(#""responseTTL": {"override": "2h"}"#)
        proxy.origin.route(
            "/a.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "no-cache, max-age=5")]))

        let first = try await proxy.get(proxy.target("/a.jpg")),
            second = try await proxy.get(proxy.target("/a.jpg"))

        #expect(first["Cache-Control"] == "public, max-age=7200")
        #expect(second["Cache-Status"]?.contains("hit") == true)
        #expect(proxy.origin.count("/a.jpg") == 1)
    }

    @Test("reencode: the source's own bytes are never sent")
    func reencode() async throws {
        let proxy = try await proxy(#""reencode": true"#)
        proxy.origin.route("/a.jpg", .body(Fixtures.photo(number: 7)))

        let answer = try await proxy.get(proxy.target("/a.jpg"))
        let again = try await proxy.get(proxy.target("/a.jpg"))

        #expect(answer.status == 200)
        #expect(answer["Content-Type"] == "image/jpeg")
        #expect(answer.body != Fixtures.photo(number: 7))
        // A request was sent to the origin, although there are two steps (RFC 9211 §2.2).
        #expect(answer["Cache-Status"]?.hasPrefix("imageproxyd; fwd=uri-miss; fwd-status=200") == true)
        #expect(again["Cache-Status"]?.hasPrefix("imageproxyd; hit") == true)
    }

    @Test(
        "reencode applies to every spelling of the path",
        arguments: ["%72e", "r%65", "x/%2e%2e/re", "/re", "x/..%2fre"])
    func reencodeDodged(path: String) async throws {
        let origin = try FakeOrigin()
        let proxy = try await Proxy(
            settings: "\"origins\": [{\"match\": \"\(origin.url("/re/*"))\", \"reencode\": true}]",
            origin: origin)
        for spelling in [path, "re"] { origin.route("/\(spelling)/a.jpg", .body(Fixtures.photo)) }

        let answer = try await proxy.get(proxy.target("/\(path)/a.jpg"))

        #expect(answer.body != Fixtures.photo)
        let isAmbiguous = path.hasPrefix("/") || path.contains("%2f")
        #expect(answer.status == (isAmbiguous ? 403 : 200))
        #expect(answer.code == (isAmbiguous ? "source_forbidden" : nil))
    }

    @Test(
        "A rule's restriction applies to a redirect from another source, too, when it is fetched, stored and revalidated"
    )
    func redirected() async throws {
        let (origin, target) = (try FakeOrigin(), try FakeOrigin())
        let proxy = try await Proxy(
            settings: """
                "origins": [
                    {"match": "\(target.url("/re/*"))", "reencode": true, "responseTTL": {"maximum": "100s"}},
                    {"match": "\(target.url("/webp/*"))", "storeAs": "webp"},
                    {"match": "\(target.url("/typed/*"))", "responseContentType": ["image/gif"]},
                    {"match": "\(target.url("/strict/*"))", "acceptStatus": [203]}]
                """, origin: origin)
        for path in ["re", "webp", "typed", "strict"] {
            origin.route("/\(path)/a.jpg", .redirect(to: target.url("/\(path)/a.jpg")))
            target.route(
                "/\(path)/a.jpg",
                OriginAnswer.validated(
                    Fixtures.photo(number: 7), entityTag: "\"a\"",
                    fields: [("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=600")]))
        }

        let again = "/re/a.jpg"
        for line in [nil, nil, "Via: 1.1 a"] as [String?] {
            let answer = try await proxy.get(proxy.target(again), lines: line.map { [$0] } ?? [])
            #expect(answer.status == 200)
            #expect(answer["Content-Type"] == "image/jpeg")
            #expect(answer.body != Fixtures.photo(number: 7))
            #expect(answer["Cache-Control"]?.contains("max-age=100") == true)
        }
        #expect(try await proxy.get(proxy.target("/webp/a.jpg"))["Content-Type"] == "image/webp")
        #expect(try await proxy.get(proxy.target("/typed/a.jpg")).status == 415)
        #expect(try await proxy.get(proxy.target("/strict/a.jpg")).status == 502)
    }

    @Test(
        "reencode applies to an original behind a redirect also when it is stored, private, or revalidated"
    )
    func redirectedLater() async throws {
        let (origin, target) = (try FakeOrigin(), try FakeOrigin())
        let proxy = try await Proxy(
            settings: """
                "origins": [{"match": "\(target.url("/*"))", "reencode": true}]
                """, security: #""allowedOptions": ["refresh-cached", "handle-cookies"]"#, origin: origin)
        origin.route("/a.jpg", .redirect(to: target.url("/a.jpg")))
        target.route(
            "/a.jpg",
            OriginAnswer.validated(
                Fixtures.photo(number: 7), entityTag: "\"a\"",
                fields: [("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=600")]))

        // The original is stored by a request for another form of it.
        #expect(try await proxy.get(proxy.target("/a.jpg", "transform=resize:9x&format=png")).status == 200)
        for options in ["", "options=refresh-cached", "", "options=handle-cookies"] {
            let answer = try await proxy.get(proxy.target("/a.jpg", options))
            #expect(answer.status == 200)
            #expect(answer.body != Fixtures.photo(number: 7), "\(options)")
        }
        #expect(target.log.requests.contains { $0["if-none-match"] == "\"a\"" })
    }

    @Test("storeAs: originals are stored and sent in the format that the rule names")
    func storeAs() async throws {
        let proxy = try await proxy(#""storeAs": "webp""#)
        proxy.origin.route("/a.jpg", .body(Fixtures.photo))
        proxy.origin.route("/bad.jpg", .body(Array(Fixtures.photo.prefix(300))))

        let untouched = try await proxy.get(proxy.target("/a.jpg"))
        let small = try await proxy.get(proxy.target("/a.jpg", "transform=resize:10x&format=png"))

        #expect(untouched["Content-Type"] == "image/webp")
        #expect(small.pngSize?.first == 10)
        #expect(proxy.origin.count("/a.jpg") == 1)
        #expect(try await proxy.get(proxy.target("/bad.jpg")).status == 422)
    }

    @Test("storeAs and responseTTL apply to private pictures, too")
    func storeAsUnshared() async throws {
        let proxy = try await proxy(
            #""storeAs": "webp", "cookies": "forward", "responseTTL": {"override": "1h"}"#)
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=5")]))

        let answer = try await proxy.get(proxy.target("/a.jpg"), "Cookie: who=ada")

        #expect(answer["Content-Type"] == "image/webp")
        #expect(answer["Cache-Control"] == "private, max-age=3600")
    }

    @Test("decode: base64 of a picture is that picture")
    func decode() async throws {
        let proxy = try await proxy(#""decode": "base64""#)
        let text = base64(Fixtures.photo)
        proxy.origin.route("/a.jpg", .body(Array(text.utf8), type: "text/plain"))

        let answer = try await proxy.get(proxy.target("/a.jpg"))

        #expect(answer.status == 200)
        #expect(answer.body == Fixtures.photo)
    }

    @Test("cookies: forward sends each client's cookies, and shares no answer")
    func cookies() async throws {
        let proxy = try await proxy(#""cookies": "forward""#)
        proxy.origin.route("/a.jpg") { request in
            request["cookie"] == "user=ann"
                ? .body(Fixtures.photo(number: 1)) : .body(Fixtures.photo(number: 2))
        }
        proxy.origin.route("/gone.jpg", inTurn: [.status(404), .body(Fixtures.photo)])
        let target = proxy.target("/a.jpg")

        let ann = try await proxy.get(target, "Cookie: user=ann"),
            bob = try await proxy.get(target, "Cookie: user=bob")
        let anonymous = try await proxy.get(target), again = try await proxy.get(target, "Cookie: user=ann")
        let rendered = try await proxy.get(proxy.target("/a.jpg", "transform=resize:10x"), "Cookie: user=ann")

        #expect([ann, bob, anonymous, again].map(\.status) == [200, 200, 200, 200])
        #expect(ann.body == Fixtures.photo(number: 1))
        #expect(bob.body == Fixtures.photo(number: 2))
        #expect(again.body == ann.body)
        #expect(ann["Cache-Control"]?.hasPrefix("private") == true)
        #expect(rendered["Cache-Control"]?.hasPrefix("private") == true)
        #expect(proxy.origin.count("/a.jpg") == 5)
        #expect(
            proxy.origin.log.requests.map { $0["cookie"] } == [
                "user=ann", "user=bob", nil, "user=ann", "user=ann",
            ])
        #expect(try await proxy.get(proxy.target("/gone.jpg")).status == 404)
        #expect(try await proxy.get(proxy.target("/gone.jpg")).status == 200, "no blacklist entry")
    }

    @Test("Without a rule, a client's cookies are not sent to an origin")
    func noCookies() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.jpg", .body(Fixtures.photo))

        _ = try await proxy.get(proxy.target("/a.jpg"), "Cookie: user=ann", "Authorization: Bearer x")

        #expect(proxy.origin.log.requests.map { $0["cookie"] } == [nil])
        #expect(proxy.origin.log.requests.map { $0["authorization"] } == [nil])
    }

    @Test("rewrite changes the URL of a fetch; the key stays the source's own")
    func rewrite() async throws {
        let origin = try FakeOrigin()
        origin.route("/bucket/a.jpg", .body(Fixtures.photo))
        let proxy = try await Proxy(
            settings: """
                "origins": [{"match": "https://public.example/*", \
                "rewrite": {"from": "https://public.example/img/", "to": "\(origin.url("/bucket/"))"}}]
                """, origin: origin)

        let answer = try await proxy.get("/img?url=https%3A%2F%2Fpublic.example%2Fimg%2Fa.jpg")

        #expect(answer.status == 200)
        #expect(origin.count("/bucket/a.jpg") == 1)
    }

    @Test("loader: file serves a folder as an origin")
    func files() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(Fixtures.photo, to: "pictures/a.jpg")
        try folder.write(Array("password".utf8), to: "pictures/text")
        try folder.write(Fixtures.photo, to: "outside.jpg")
        let proxy = try await Proxy(
            settings: """
                "origins": [{"match": "https://assets.example/*", "loader": "file", \
                "root": "\(folder.path)/pictures"}]
                """)

        let statuses = try await ["a.jpg", "text", "..%252foutside.jpg", "none.jpg"].asyncMap {
            try await proxy.get("/img?url=https%3A%2F%2Fassets.example%2F" + $0).status
        }

        #expect(statuses == [200, 415, 403, 404])
    }
}

extension Array {
    func asyncMap<Result>(_ transform: (Element) async throws -> Result) async throws -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}

/// RFC 4648 §4.
private func base64(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var text = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
        let group = Array(bytes[start..<Swift.min(start + 3, bytes.count)])
        let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
        for index in 0..<4 {
            text.append(index <= group.count ? alphabet[bits >> (18 - 6 * index) & 63] : "=")
        }
    }
    return text
}
