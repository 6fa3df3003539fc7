// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Request

@Suite("Purging")
struct PurgeTests {
    private static let jpeg = [
        ("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=600"), ("ETag", "\"v1\""),
    ]
    private static let tags = "\"unsignedTags\": true"
    private static let small = "transform=resize:30x20&format=png"
    private static let large = "transform=resize:60x40&format=png"

    @Test(
        "A purge of a source removes all variants from memory and disk, and reports their number",
        arguments: ["DELETE", "PURGE"])
    func source(method: String) async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.jpeg))
        proxy.origin.route("/b.jpg", .body(Fixtures.photo, fields: Self.jpeg))
        for path in ["/a.jpg", "/b.jpg"] {
            for variant in [Self.small, Self.large] { _ = try await proxy.get(proxy.target(path, variant)) }
        }

        let purge = try await proxy.administer(method, method == "PURGE" ? "/img" : "/cache", about: "/a.jpg")
        let again = try await proxy.get(proxy.target("/a.jpg", Self.small))
        let other = try await proxy.get(proxy.target("/b.jpg", Self.small))

        #expect(purge.status == 200)
        #expect(purge.text == "{\"memory\": 2, \"disk\": 3, \"failures\": 0}\n")
        #expect(again["Cache-Status"] == "imageproxyd; fwd=uri-miss; fwd-status=200; stored")
        #expect(other["Cache-Status"]?.hasSuffix("detail=memory") == true)
        #expect(proxy.origin.count("/a.jpg") == 2)
    }

    @Test(
        "A purge by a URL with '*' at its end that matches nothing reports how many sources can be purged at once"
    )
    func prefix() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.jpeg))
        proxy.origin.route("/b*", .body(Fixtures.photo, fields: Self.jpeg))
        for path in ["/a.jpg", "/b*"] { _ = try await proxy.get(proxy.target(path)) }

        let nothing = try await proxy.administer("DELETE", "/cache", about: "/a*")
        let starred = try await proxy.administer("PURGE", "/img", about: "/b*")

        #expect(nothing.status == 200 && nothing.text.contains("\"hint\": \"'*' stands for itself"))
        #expect(nothing.text.contains("by tag"))
        #expect(!starred.text.contains("hint") && !starred.text.contains("\"memory\": 0"))
    }

    @Test("A purge still holds after kill -9 right after its answer")
    func killed() async throws {
        let folder = try TemporaryDirectory()
        let origin = try FakeOrigin()
        origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.jpeg))
        let before = try await Proxy(in: folder, origin: origin)
        _ = try await before.get(before.target("/a.jpg", Self.small))
        #expect(try await before.administer("DELETE", "/cache", about: "/a.jpg").status == 200)
        before.daemon.send(signal: 9)
        _ = try await before.daemon.exitCode()

        let after = try await Proxy(in: folder, origin: origin)
        _ = try await after.get(after.target("/a.jpg", Self.small))

        #expect(origin.count("/a.jpg") == 2)
    }

    @Test(
        "A picture whose source is purged while it is made is sent to its waiters, not stored, and not joined"
    )
    func runningTask() async throws {
        let proxy = try await Proxy()
        let gate = OriginGate()
        let old = OriginAnswer.body(Fixtures.photo, fields: Self.jpeg).held(by: gate)
        proxy.origin.route("/a.jpg", inTurn: [old, .body(Fixtures.photo + [0], fields: Self.jpeg)])
        let target = proxy.target("/a.jpg", Self.small)

        async let waiting = proxy.get(target)
        _ = await proxy.origin.waitForRequests("/a.jpg")
        let purge = try await proxy.administer("DELETE", "/cache", about: "/a.jpg")
        let newer = try await proxy.get(target)
        gate.open()
        let older = try await waiting
        let third = try await proxy.get(target)

        #expect(purge.status == 200)
        #expect(older.status == 200)
        #expect(older["Cache-Status"] == "imageproxyd; fwd=uri-miss; fwd-status=200")
        #expect(newer["Cache-Status"] == "imageproxyd; fwd=uri-miss; fwd-status=200; stored")
        #expect(third["Cache-Status"]?.hasSuffix("detail=memory") == true)
        #expect(third["ETag"] == newer["ETag"])
        #expect(proxy.origin.count("/a.jpg") == 2)
    }

    @Test("A picture that is streamed does not claim to be stored if a purge came before its head")
    func purgedBeforeHead() async throws {
        let proxy = try await Proxy()
        let gate = OriginGate()
        proxy.origin.route("/a.jpg", OriginAnswer.body(Fixtures.photo, fields: Self.jpeg).held(by: gate))

        async let waiting = proxy.get(proxy.target("/a.jpg"))
        _ = await proxy.origin.waitForRequests("/a.jpg")
        _ = try await proxy.administer("DELETE", "/cache", about: "/a.jpg")
        gate.open()

        #expect(try await waiting["Cache-Status"] == "imageproxyd; fwd=uri-miss; fwd-status=200")
        #expect(
            try await proxy.get(proxy.target("/a.jpg"))["Cache-Status"]
                == "imageproxyd; fwd=uri-miss; fwd-status=200; stored")
    }

    @Test(
        "A purge of a tag removes its results and revalidates their source; other results stay if the source is unchanged"
    )
    func tag() async throws {
        let proxy = try await Proxy(
            settings: #""downstream": {"tagFields": ["Cache-Tag", "Surrogate-Key"]}"#, security: Self.tags)
        proxy.origin.route(
            "/a.jpg",
            OriginAnswer.validated(
                Fixtures.photo, entityTag: "\"v1\"", fields: [("Cache-Control", "max-age=600")]))
        let tagged = proxy.target("/a.jpg", Self.small + "&tag=spring,shoes-42")
        let untagged = proxy.target("/a.jpg", Self.large)
        let first = try await proxy.get(tagged)
        _ = try await proxy.get(untagged)

        let none = try await proxy.administer("DELETE", "/cache?tag=autumn")
        let purge = try await proxy.administer("DELETE", "/cache?tag=spring")
        let other = try await proxy.get(untagged)
        let again = try await proxy.get(tagged)

        #expect(first["Cache-Tag"] == "spring,shoes-42")
        #expect(first["Surrogate-Key"] == "spring shoes-42")
        #expect(none.text == "{\"memory\": 0, \"disk\": 0, \"failures\": 0}\n")
        #expect(purge.text == "{\"memory\": 1, \"disk\": 1, \"failures\": 0}\n")
        #expect(other["Cache-Status"]?.hasPrefix("imageproxyd; fwd=stale; fwd-status=304") == true)
        #expect(again["Cache-Status"]?.hasSuffix("detail=original") == true)
        #expect(proxy.origin.count("/a.jpg") == 2)
    }

    @Test(
        "A purge of a tag in one tier leaves the other, and the tag; an untransformed picture is removed from disk, too"
    )
    func tagInOneTier() async throws {
        let proxy = try await Proxy(security: Self.tags)
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.jpeg))
        let result = proxy.target("/a.jpg", Self.small + "&tag=spring")
        let plain = proxy.target("/a.jpg", "&tag=spring")
        _ = try await proxy.get(plain)
        _ = try await proxy.get(result)

        let disk = try await proxy.administer("DELETE", "/cache?tag=spring&tier=disk")
        let fromMemory = try await proxy.get(result)
        let memory = try await proxy.administer("DELETE", "/cache?tag=spring&tier=memory")
        let again = try await proxy.get(result)
        let one = try await proxy.administer("DELETE", "/cache?tag=spring&tier=memory")
        let fromDisk = try await proxy.get(result)

        #expect(disk.text == "{\"memory\": 0, \"disk\": 2, \"failures\": 0}\n")
        #expect(fromMemory["Cache-Status"]?.hasSuffix("detail=memory") == true)
        #expect(memory.text == "{\"memory\": 1, \"disk\": 0, \"failures\": 0}\n")
        #expect(again["Cache-Status"]?.hasSuffix("stored") == true)
        #expect(one.text == "{\"memory\": 1, \"disk\": 0, \"failures\": 0}\n")
        #expect(fromDisk["Cache-Status"]?.hasSuffix("detail=disk") == true)
        #expect(proxy.origin.count("/a.jpg") == 2)
    }

    @Test("Tags survive a restart")
    func tagAfterRestart() async throws {
        let folder = try TemporaryDirectory()
        let origin = try FakeOrigin()
        origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.jpeg))
        let before = try await Proxy(security: Self.tags, in: folder, origin: origin)
        _ = try await before.get(before.target("/a.jpg", Self.small + "&tag=spring"))
        before.daemon.send(signal: 15)
        _ = try await before.daemon.exitCode()

        let after = try await Proxy(security: Self.tags, in: folder, origin: origin)
        let purge = try await after.administer("DELETE", "/cache?tag=spring")

        #expect(purge.text == "{\"memory\": 0, \"disk\": 1, \"failures\": 0}\n")
    }

    @Test("Unsigned tags are refused, so that they can't displace those that a purge uses")
    func unsignedTags() async throws {
        let folder = try TemporaryDirectory()
        let key = Array("imageproxyd-test-key-1".utf8)
        try folder.write(key, to: "key")
        let proxy = try await Proxy(
            security: "\"keys\": [\"\(folder.path)/key\"], \"requireSignature\": false", in: folder)
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.jpeg))
        let tagged = proxy.target("/a.jpg", Self.small + "&tag=campaign-7")
        let filler = (0..<16).map { "filler-\($0)" }.joined(separator: ",")

        let signed = try await proxy.get(SignaturePolicy.sign(tagged, with: key))
        let refused = [
            try await proxy.get(tagged), try await proxy.get(proxy.target("/a.jpg", "tag=\(filler)")),
            try await proxy.get(proxy.target("/a.jpg", "tag=\(filler)").replacing("/img", with: "/info")),
        ]
        let purge = try await proxy.administer("DELETE", "/cache?tag=campaign-7")
        let without = try await Proxy()
        let noKeys = try await without.get(without.target("/a.jpg", "tag=a"))

        #expect(signed.status == 200 && signed["Cache-Tag"] == nil, "no field names tags by default")
        for answer in refused + [noKeys] {
            #expect(answer.status == 403 && answer.code == "option_forbidden" && answer.text.contains("tag"))
        }
        #expect(purge.text == "{\"memory\": 1, \"disk\": 1, \"failures\": 0}\n")
    }

    @Test("A purge by tag reports if tags were lost with the index, until everything is purged")
    func lostTags() async throws {
        let folder = try TemporaryDirectory()
        let before = try await Proxy(security: Self.tags, in: folder)
        before.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.jpeg))
        _ = try await before.get(before.target("/a.jpg", Self.small + "&tag=spring"))
        before.daemon.send(signal: 15)
        _ = try await before.daemon.exitCode()
        for name in folder.files where name.hasPrefix("cache/index.sqlite") { try folder.remove(name) }

        let after = try await Proxy(security: Self.tags, in: folder)
        let lost = try await after.administer("DELETE", "/cache?tag=spring")
        _ = try await after.administer("DELETE", "/cache?all=1")
        let whole = try await after.administer("DELETE", "/cache?tag=spring")

        #expect(lost.text == "{\"memory\": 0, \"disk\": 0, \"failures\": 0, \"complete\": false}\n")
        #expect(whole.text == "{\"memory\": 0, \"disk\": 0, \"failures\": 0}\n")
    }

    @Test("One key, one tier, and everything can be purged, and a listing shows the entries")
    func selectors() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.jpeg))
        let target = proxy.target("/a.jpg", Self.small)
        _ = try await proxy.get(target)

        let listing = try await proxy.administer("GET", "/cache", about: "/a.jpg").text
        let key = try #require(listing.firstMatch(of: /"kind": "result", "key": "([0-9a-f]{32})"/)?.1)
        let memory = try await proxy.administer("DELETE", "/cache", about: "/a.jpg", "tier=memory")
        let fromDisk = try await proxy.get(target)
        let one = try await proxy.administer("DELETE", "/cache?key=\(key)")
        let made = try await proxy.get(target)
        let all = try await proxy.administer("DELETE", "/cache?all=1")
        let nothing = try await proxy.administer("GET", "/cache", about: "/a.jpg").text

        #expect(listing.contains("\"tier\": \"memory\"") && listing.contains("\"kind\": \"original\""))
        #expect(listing.contains("\"fresh\": true"))
        #expect(memory.text == "{\"memory\": 1, \"disk\": 0, \"failures\": 0}\n")
        #expect(fromDisk["Cache-Status"]?.hasSuffix("detail=disk") == true)
        #expect(one.text == "{\"memory\": 1, \"disk\": 1, \"failures\": 0}\n")
        #expect(made["Cache-Status"]?.hasSuffix("detail=original") == true)
        #expect(all.text == "{\"memory\": 1, \"disk\": 2, \"failures\": 0}\n")
        #expect(nothing.contains("\"entries\": []") && nothing.contains("\"source\": null"))
    }

    @Test(
        "A purge of an original's key removes the untransformed picture, too, from every tier",
        arguments: ["all", "disk"])
    func keyOfOriginal(results: String) async throws {
        let proxy = try await Proxy(results: results)
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.jpeg))
        let target = proxy.target("/a.jpg")
        for _ in 0..<4 { _ = try await proxy.get(target) }
        let listing = try await proxy.administer("GET", "/cache", about: "/a.jpg").text
        let keys = listing.matches(of: /"kind": "original", "key": "([0-9a-f]{32})", "bytes": (\d+)/)
        let key = try #require(keys.first?.1)
        #expect(keys.count == (results == "all" ? 2 : 1) && keys.allSatisfy { $0.1 == key })

        let purge = try await proxy.administer("DELETE", "/cache?key=\(key)")
        let again = try await proxy.get(target)

        #expect(purge.text == "{\"memory\": \(results == "all" ? 1 : 0), \"disk\": 1, \"failures\": 0}\n")
        #expect(again.status == 200 && again["Cache-Status"]?.contains("fwd=") == true)
        #expect(proxy.origin.count("/a.jpg") == 2)
    }

    @Test("The blacklist can be listed and cleared")
    func failed() async throws {
        let proxy = try await Proxy()
        _ = try await proxy.get(proxy.target("/nothing"))

        let listed = try await proxy.administer("GET", "/failed").text
        let cleared = try await proxy.administer("DELETE", "/failed", about: "/nothing")
        let empty = try await proxy.administer("GET", "/failed").text
        _ = try await proxy.get(proxy.target("/nothing"))

        #expect(listed.contains("/nothing\"") && listed.contains("\"code\": \"upstream_not_found\""))
        #expect(cleared.text == "{\"failures\": 1}\n")
        #expect(empty == "{\"failed\": [], \"cut\": false, \"origins\": []}\n")
        #expect(proxy.origin.count("/nothing") == 2)
    }

    @Test("An invalid admin request is answered with the reason; the public listener has no admin routes")
    func wrong() async throws {
        let proxy = try await Proxy()
        let cases = [
            ("DELETE", "/cache", 400, "missing_parameter"),
            ("DELETE", "/cache?all=yes", 400, "invalid_parameter"),
            ("DELETE", "/cache?all=1&tag=a", 400, "invalid_parameter"),
            ("DELETE", "/cache?key=12", 400, "invalid_parameter"),
            ("DELETE", "/cache?tag=a%20b", 400, "invalid_parameter"),
            ("GET", "/cache?url=", 400, "invalid_parameter"),
            ("DELETE", "/cache?prefix=https%3A%2F%2Fa.example", 400, "invalid_parameter"),
            ("POST", "/cache/verify?after=x", 400, "invalid_parameter"),
            ("GET", "/cache/verify", 405, "method_not_allowed"),
            ("DELETE", "/cache?what=1", 400, "unknown_parameter"),
            ("DELETE", "/cache?all=1&tier=tape", 400, "invalid_parameter"),
            ("DELETE", "/img?url=a", 405, "method_not_allowed"),
            ("POST", "/cache", 405, "method_not_allowed"),
            ("PURGE", "/img?url=http%3A%2F%2Fa%2F&transform=flip", 400, "invalid_parameter"),
            ("GET", "/nowhere", 404, "not_found"),
        ]

        for (method, target, status, code) in cases {
            let answer = try await proxy.administer(method, target)
            #expect(answer.status == status && answer.code == code, "\(method) \(target)")
        }
        let empty = try await proxy.administer("DELETE", "/cache").text
        #expect(empty.contains("one of url, url64, key, tag, prefix and all=1 is required"), "\(empty)")
        let root = try await proxy.administer("GET", "/nowhere").text
        let routes =
            "here are /cache, /cache/verify, /explain, /failed, /img, /info, /healthz, /readyz, /metrics"
        #expect(root.contains(routes), "\(root)")
        #expect(try await proxy.get("/cache?url=http%3A%2F%2Fa%2F").status == 404)
        #expect(try await proxy.get("/failed").status == 404)
        #expect(try await proxy.ask("PURGE", "/img?url=http%3A%2F%2Fa%2F").status == 405)
    }

    @Test("The line of a purge says what was purged")
    func logged() async throws {
        let proxy = try await Proxy(settings: "\"log\": {\"url\": \"path\"}")
        let key = String(repeating: "0a", count: 16)
        for selector in ["url=http%3A%2F%2Fa%2Fb.jpg", "key=\(key)", "tag=cats", "all=1"] {
            #expect(try await proxy.administer("DELETE", "/cache?\(selector)").status == 200)
        }
        proxy.daemon.send(signal: 15)
        _ = try await proxy.daemon.exitCode()

        let lines = proxy.daemon.log.split(separator: "\n").filter {
            $0.contains("method=DELETE path=/cache")
        }
        try #require(lines.count == 4)
        let expected = [
            "url_host=a url_port=80 url=http://a/b.jpg purge=url", "purge=key:\(key)", "purge=tag:cats",
            "purge=all",
        ]
        for text in expected { #expect(lines.contains { $0.contains(text) }, "\(text) in \(lines)") }
    }

    @Test("With a token, only requests that present it are accepted; health needs none")
    func token() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(Array("0123456789abcdef\n".utf8), to: "token")
        let proxy = try await Proxy(settings: "\"admin\": {\"token\": \"\(folder.path)/token\"}", in: folder)

        let without = try await proxy.administer("DELETE", "/cache?all=1")
        let wrong = try await proxy.administer(
            "DELETE", "/cache?all=1", "Authorization: Bearer 0123456789abcdeF")
        let right = try await proxy.administer(
            "DELETE", "/cache?all=1", "Authorization: bearer 0123456789abcdef")

        #expect(without.status == 401 && without["WWW-Authenticate"] == "Bearer realm=\"imageproxyd\"")
        #expect(wrong.status == 401)
        #expect(right.status == 200)
        #expect(try await proxy.administer("GET", "/healthz").status == 200)
        let path = try await proxy.administer("OPTIONS", "/failed")
        #expect(path.status == 204 && path["Allow"] == "GET, HEAD, DELETE, OPTIONS")
        let server = try await proxy.administer("OPTIONS", "*")
        #expect(server.status == 204 && server["Allow"] == "GET, HEAD, POST, DELETE, PURGE, OPTIONS")
    }
}
