// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("Ranges and conditions")
struct ConditionTests {
    /// Small enough to be answered as a whole the first time, too.
    private static let image = Array(Fixtures.photo.prefix(40_000))

    private static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
    /// A proxy with a photo in memory (`memory`) and one that is only on disk (`disk`).
    private func targets(_ proxy: Proxy) -> String {
        proxy.origin.route(
            "/photo.jpg",
            .body(
                Self.image,
                fields: [("Cache-Control", "max-age=600"), ("Last-Modified", Self.modified)]))
        return proxy.target("/photo.jpg")
    }

    @Test(
        "Ranges are sent from stored pictures, in memory and on disk alike (RFC 9110 §14)",
        arguments: ["all", "disk"])
    func ranges(results: String) async throws {
        let proxy = try await Proxy(settings: "\"log\": {\"access\": \"all\"}", results: results)
        let target = targets(proxy)
        let whole = try await proxy.get(target)
        let count = Self.image.count
        let cases: [(range: String, status: Int, contentRange: String?, body: ArraySlice<UInt8>)] = [
            ("bytes=0-99", 206, "bytes 0-99/\(count)", Self.image[..<100]),
            ("bytes=100-", 206, "bytes 100-\(count - 1)/\(count)", Self.image[100...]),
            ("bytes=-10", 206, "bytes \(count - 10)-\(count - 1)/\(count)", Self.image.suffix(10)),
            ("bytes=5-\(count * 2)", 206, "bytes 5-\(count - 1)/\(count)", Self.image[5...]),
            ("bytes=0-0,-1", 200, nil, Self.image[...]),
            ("bytes=9-3", 200, nil, Self.image[...]),
            ("pages=1-2", 200, nil, Self.image[...]),
        ]
        #expect(whole["Accept-Ranges"] == "bytes")
        for (range, status, contentRange, body) in cases {
            let answer = try await proxy.get(target, "Range: \(range)")
            #expect(answer.status == status, "\(range)")
            #expect(answer["Content-Range"] == contentRange, "\(range)")
            #expect(answer.body[...] == body, "\(range)")
            #expect(answer["ETag"] == whole["ETag"])
        }
        let beyond = try await proxy.get(target, "Range: bytes=\(count)-")
        #expect(beyond.status == 416)
        #expect(beyond["Content-Range"] == "bytes */\(count)")
    }

    @Test("A range counts only if the client's copy is still valid (RFC 9110 §13.1.5)")
    func ifRange() async throws {
        let proxy = try await Proxy()
        let target = targets(proxy)
        // The first answer may be sent while the body is received, without an entity tag.
        _ = try await proxy.get(target)
        let tag = try #require(try await proxy.get(target)["ETag"])
        let cases = [
            (tag, 206), ("W/\(tag)", 200), ("\"other\"", 200), (Self.modified, 206),
            ("Sun, 06 Nov 1994 08:49:38 GMT", 200), ("nonsense", 200),
        ]
        for (validator, status) in cases {
            let answer = try await proxy.get(target, "Range: bytes=0-9", "If-Range: \(validator)")
            #expect(answer.status == status, "\(validator)")
        }
    }

    @Test("Conditions are evaluated in the order of RFC 9110 §13.2.2")
    func conditions() async throws {
        let proxy = try await Proxy()
        let target = targets(proxy)
        // The first answer may be sent while the body is received, without an entity tag.
        _ = try await proxy.get(target)
        let tag = try #require(try await proxy.get(target)["ETag"])
        let later = "Sun, 06 Nov 1994 08:49:38 GMT"
        let earlier = "Sun, 06 Nov 1994 08:49:36 GMT"
        let cases: [(lines: [String], status: Int)] = [
            (["If-Modified-Since: \(Self.modified)"], 304),
            (["If-Modified-Since: \(later)"], 304),
            (["If-Modified-Since: \(earlier)"], 200),
            (["If-Modified-Since: nonsense"], 200),
            (["If-None-Match: \"x\"", "If-Modified-Since: \(later)"], 200),
            (["If-None-Match: *"], 304),
            (["If-Match: \(tag)"], 200),
            (["If-Match: \"x\""], 412),
            (["If-Match: W/\(tag)"], 412),
            (["If-Unmodified-Since: \(Self.modified)"], 200),
            (["If-Unmodified-Since: \(earlier)"], 412),
            (["If-Match: \(tag)", "If-Unmodified-Since: \(earlier)"], 200),
            (["If-Match: \(tag)", "If-None-Match: \(tag)"], 304),
            (["Range: bytes=0-9", "If-None-Match: \(tag)"], 304),
        ]
        for (lines, status) in cases {
            let answer = try await proxy.get(target, lines: lines)
            #expect(answer.status == status, "\(lines)")
        }
    }

    @Test("A result has its entity tag, and no date: its source's does not say whether a client has it")
    func resultsDate() async throws {
        let proxy = try await Proxy()
        let fields = [("Cache-Control", "max-age=600"), ("Last-Modified", Self.modified)]
        proxy.origin.route("/whole.jpg", .body(Fixtures.photo, fields: fields))
        let target = proxy.target("/whole.jpg", "transform=resize:9x")
        let result = try await proxy.get(target)
        let tag = try #require(result["ETag"])
        #expect(result["Last-Modified"] == nil)
        for (line, status) in [
            ("If-Modified-Since: \(Self.modified)", 200), ("If-Unmodified-Since: \(Self.modified)", 200),
            ("If-None-Match: \(tag)", 304),
        ] {
            #expect(try await proxy.get(target, lines: [line]).status == status, "\(line)")
        }
    }

    @Test("HEAD has the fields of GET, on a miss and on a hit")
    func head() async throws {
        let proxy = try await Proxy()
        let target = targets(proxy)
        let miss = try await proxy.ask("HEAD", target)
        let hit = try await proxy.ask("HEAD", target)
        let full = try await proxy.get(target)
        for answer in [miss, hit] {
            #expect(answer.status == 200)
            #expect(answer.body.isEmpty)
            #expect(answer["Content-Length"] == "\(Self.image.count)")
            for name in ["ETag", "Content-Type", "Cache-Control", "Last-Modified", "Content-Disposition"] {
                #expect(answer[name] == full[name], "\(name)")
            }
        }
        #expect(hit.fields.map(\.name) == full.fields.map(\.name))
    }
}

extension ConditionTests {
    @Test("Last-Modified is an IMF-fixdate, never in the future (RFC 9110 §5.6.7, §8.8.2.1)")
    func dates() async throws {
        let proxy = try await Proxy()
        let dates = [
            "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Fri, 31 Dec 9999 23:59:59 GMT",
            "x",
        ]
        for (number, date) in dates.enumerated() {
            proxy.origin.route(
                "/\(number).jpg",
                .body(Fixtures.photo, fields: [("Cache-Control", "max-age=600"), ("Last-Modified", date)]))
            let first = try await proxy.get(proxy.target("/\(number).jpg"))
            let past = "Sun, 06 Nov 1994 08:49:37 GMT"
            #expect(first["Last-Modified"] == [past, past, first["Date"], nil][number])
        }
    }
}

@Suite("Pages of other origins")
struct SharingTests {
    @Test(
        "Pages can read why a condition or a range failed, and Vary names what that depends on",
        arguments: ["all", "disk"])
    func failedConditions(_ tier: String) async throws {
        let proxy = try await Proxy(settings: "\"http\": {\"cors\": [\"https://a.example\"]}", results: tier)
        proxy.origin.route("/photo.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=600")]))
        let target = proxy.target("/photo.jpg", "transform=resize:40x30&format=auto")
        _ = try await proxy.get(target)
        for (field, status) in [("If-Match: \"x\"", 412), ("Range: bytes=999999-", 416)] {
            let answer = try await proxy.get(target, field, "Origin: https://a.example")
            #expect(answer.status == status)
            #expect(answer["Access-Control-Allow-Origin"] == "https://a.example")
            #expect(answer["Vary"] == "Accept, Origin")
        }
    }

    @Test("A picture that its origin varies by any field is not stored by downstream caches (RFC 9111 §4.1)")
    func variesOnEverything() async throws {
        let proxy = try await Proxy()
        proxy.origin.route(
            "/photo.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=600"), ("Vary", "*")]))
        let answer = try await proxy.get(proxy.target("/photo.jpg"))
        #expect(answer["Cache-Control"]?.contains("no-cache") == true)
    }

    @Test("Listed origins may read images, also errors, and the answer says so")
    func named() async throws {
        let proxy = try await Proxy(
            settings: """
                "http": {"cors": ["https://a.example"], "timingAllowOrigin": ["*"]}
                """)
        proxy.origin.route("/photo.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=600")]))
        for target in [
            proxy.target("/photo.jpg"), proxy.target("/photo.jpg"), proxy.target("/nothing"), "/transforms",
        ] {
            let named = try await proxy.get(target, "Origin: https://a.example")
            let other = try await proxy.get(target, "Origin: https://b.example")
            #expect(named["Access-Control-Allow-Origin"] == "https://a.example")
            #expect(named["Timing-Allow-Origin"] == "*")
            #expect(named["Vary"] == "Origin")
            #expect(other["Access-Control-Allow-Origin"] == nil)
            #expect(other["Vary"] == "Origin")
        }
        let preflight = try await proxy.ask(
            "OPTIONS", proxy.target("/photo.jpg"), "Origin: https://a.example",
            "Access-Control-Request-Method: GET")
        #expect(preflight.status == 204)
        #expect(preflight["Access-Control-Allow-Methods"] == "GET, HEAD")
        #expect(preflight["Access-Control-Allow-Origin"] == "https://a.example")
    }

    @Test("Other origins may not read images; OPTIONS says what is allowed")
    func off() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/photo.jpg", .body(Fixtures.photo))
        let answer = try await proxy.get(proxy.target("/photo.jpg"), "Origin: https://a.example")
        let options = try await proxy.ask("OPTIONS", "/img", "Origin: https://a.example")
        let server = try await proxy.ask("OPTIONS", "*")
        #expect(answer["Access-Control-Allow-Origin"] == nil)
        #expect(answer["Vary"] == nil)
        #expect(answer["Cross-Origin-Resource-Policy"] == "cross-origin")
        #expect(options.status == 204)
        #expect(options["Allow"] == "GET, HEAD, OPTIONS")
        #expect(options["Access-Control-Allow-Origin"] == nil)
        #expect(
            try await proxy.metric(#"imageproxyd_http_requests_total{route="img",status="204"}"#) == 1)
        #expect(server.status == 204)
    }

    @Test("The access log has the client that a trusted proxy names, and not one that the client claims")
    func forwarded() async throws {
        let trusting = try await Proxy(settings: "\"http\": {\"trustedProxies\": [\"10.0.0.0/8\"]}")
        let plain = try await Proxy()
        for proxy in [trusting, plain] {
            _ = try await proxy.get("/nothing", "X-Forwarded-For: 9.9.9.9, 192.0.2.7, 10.1.2.3")
            proxy.daemon.send(signal: 15)
            #expect(try await proxy.daemon.exitCode() == 0)
        }
        #expect(trusting.daemon.log.contains("client=192.0.2.7 "))
        #expect(plain.daemon.log.contains("client=unix "))
    }
}
