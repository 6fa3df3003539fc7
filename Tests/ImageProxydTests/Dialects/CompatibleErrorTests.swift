// SPDX-License-Identifier: Apache-2.0

import Dialects
import TestSupport
import Testing

@Suite("Errors of other proxies' URLs")
struct CompatibleErrorTests {
    private static let key = "imageproxyd-test-key-1"

    /// Each dialect twice: with the other proxy's errors below `/theirs/`, else below `/ours/`.
    private func proxy() async throws -> Proxy {
        let folder = try TemporaryDirectory()
        try folder.write(Array(Self.key.utf8), to: "key")
        try folder.write(Array("00112233445566778899aabbccddeeff".utf8), to: "hex")
        let (key, hex) = ("\"keys\": [\"\(folder.path)/key\"]", "[\"\(folder.path)/hex\"]")
        let origin = try FakeOrigin()
        let own = [
            "imgproxy": ", \"keys\": \(hex), \"salts\": \(hex), \"trustedSignatures\": [\"trusted\"]",
            "thumbor": ", \(key)", "imaginary": ", \(key)",
            "nextjs": ", \"remotePatterns\": [\"https://nowhere.invalid/*\"]",
        ]
        let dialects = DialectRegistry.names.flatMap { name in
            ["ours", "theirs"].map {
                "{\"name\": \"\(name)\", \"prefix\": \"/\($0)/\(name)\", \"compatibleErrors\": \($0 == "theirs")\(own[name] ?? "")}"
            }
        }
        origin.route("/text", .body(Array("hello, this is no picture at all".utf8)))
        return try await Proxy(
            settings: "\"dialects\": [\(dialects.joined(separator: ", "))]", in: folder, origin: origin)
    }

    /// A target below a dialect's path, with the statuses here and there; `ORIGIN` stands for the origin.
    private struct Case {
        let target: String
        var dialect: Substring { target.prefix { $0 != "/" } }
        let ours: Int
        let theirs: Int
    }

    private static let cases: [Case] = [
        // A wrong signature.
        Case(target: "imgproxy/AAAA/w:10/plain/ORIGIN/text", ours: 403, theirs: 403),
        Case(target: "thumbor/AAAA/10x10/ORIGIN/text", ours: 403, theirs: 400),
        Case(target: "thumbor/unsafe/10x10/ORIGIN/text", ours: 403, theirs: 400),
        Case(target: "imaginary/resize?width=10&url=ORIGIN/text", ours: 403, theirs: 401),
        Case(target: "imaginary/resize?width=10&key=wrong&url=ORIGIN/text", ours: 403, theirs: 401),
        // A value that is none.
        Case(target: "imgproxy/trusted/w:x/plain/ORIGIN/text", ours: 400, theirs: 404),
        Case(target: "imaginary/resize?width=x&key=\(key)&url=ORIGIN/text", ours: 400, theirs: 400),
        Case(target: "weserv/?w=x&url=ORIGIN/text", ours: 400, theirs: 400),
        Case(target: "cloudflare/cdn-cgi/image/width=x/ORIGIN/text", ours: 400, theirs: 400),
        Case(target: "nextjs/_next/image?w=1&q=75&url=ORIGIN/text", ours: 400, theirs: 400),
        // Too late.
        Case(target: "imgproxy/trusted/exp:1/plain/ORIGIN/text", ours: 410, theirs: 404),
        Case(target: "imgix/text?expires=1", ours: 400, theirs: 400),
        // No picture.
        Case(target: "imgproxy/trusted/w:10/plain/ORIGIN/text", ours: 415, theirs: 422),
        Case(target: "imaginary/resize?width=10&key=\(key)&url=ORIGIN/text", ours: 415, theirs: 406),
        Case(target: "weserv/?w=10&url=ORIGIN/text", ours: 415, theirs: 404),
        // Nothing there.
        Case(target: "imaginary/nosuch?key=\(key)&url=ORIGIN/text", ours: 404, theirs: 404),
        // A source that the dialect's settings forbid.
        Case(target: "nextjs/_next/image?w=640&q=75&url=ORIGIN/text", ours: 403, theirs: 400),
        // An address that no source may have is no place to send a client either.
        Case(
            target: "cloudflare/cdn-cgi/image/width=10,onerror=redirect/http://10.0.0.1/a.jpg", ours: 403,
            theirs: 403),
    ]

    @Test("They have our status, or with compatibleErrors that of the other proxy")
    func statuses() async throws {
        #expect(Set(Self.cases.map { String($0.dialect) }) == Set(DialectRegistry.names))
        let proxy = try await proxy()
        for row in Self.cases {
            let target = row.target.replacing("ORIGIN", with: proxy.origin.url(""))
            let ours = try await proxy.get("/ours/" + target)
            let theirs = try await proxy.get("/theirs/" + target)
            #expect(ours.status == row.ours, "\(target): \(ours.text)")
            #expect(theirs.status == row.theirs, "\(target): \(theirs.text)")
            #expect(ours["Content-Type"] == "application/problem+json")
        }
    }

    @Test("imaginary's have its form, with compatibleErrors")
    func imaginary() async throws {
        let proxy = try await proxy()
        let target = "imaginary/resize?key=\(Self.key)&url=\(proxy.origin.url("/text"))"

        let ours = try await proxy.get("/ours/" + target)
        let theirs = try await proxy.get("/theirs/" + target)

        #expect(ours.code == "untranslated")
        #expect(theirs["Content-Type"] == "application/json")
        #expect(theirs.text == "{\"message\": \"'width or height': is missing\", \"status\": 400}\n")
    }

    @Test(
        "The details of errors name the option that is wrong, and the setting that would allow it",
        arguments: [
            ("imaginary/resize?width=10&url=ORIGIN/text", "'key': is missing or wrong"),
            ("imgproxy/trusted/w300/plain/ORIGIN/text.jpg", "'w300/plain/http:/"),
            ("thumbor/unsafe/10x10/ORIGIN/text", "unless allowsUnsafe of the dialect is true"),
        ])
    func details(target: String, detail: String) async throws {
        let proxy = try await proxy()

        let answer = try await proxy.get("/ours/" + target.replacing("ORIGIN", with: proxy.origin.url("")))

        #expect(answer.text.contains(detail), "\(answer.text)")
    }

    @Test("imgproxy's skip_processing sends the source as it is, unless another format is requested")
    func skipped() async throws {
        let proxy = try await proxy()
        proxy.origin.route("/a.jpg", .body(Fixtures.photo))
        let target = "/ours/imgproxy/trusted/skp:jpg/w:30/plain/\(proxy.origin.url("/a.jpg"))"

        #expect(try await proxy.get(target).body == Fixtures.photo)
        #expect(try await proxy.get(target + "@jpg").body == Fixtures.photo)
        #expect(try await proxy.get(target + "@png").pngSize == [30, 20])
    }

    @Test("imaginary's key may stand in a field, which then permits that request alone")
    func keyField() async throws {
        let proxy = try await proxy()
        proxy.origin.route("/a.jpg", .body(Fixtures.photo))
        let target = "/theirs/imaginary/resize?width=30&type=png&url=\(proxy.origin.url("/a.jpg"))"
        let field = "API-Key: \(Self.key)"

        let first = try await proxy.get(target, field)
        let second = try await proxy.get(target, field)
        let without = try await proxy.get(target)
        let wrong = try await proxy.get(target, "API-Key: wrong")
        let both = try await proxy.get(target + "&key=\(Self.key)", "API-Key: wrong")
        let inQuery = try await proxy.get(target + "&key=\(Self.key)", "API-Key: ")
        let posted = try await proxy.send(
            Fixtures.photo, to: "/theirs/imaginary/resize?width=30&type=png", [field])

        #expect(first.pngSize == [30, 20] && first["Image-Width"] == "30" && first["Image-Height"] == "20")
        #expect(first["Cache-Control"]?.hasPrefix("private") == true)
        #expect(
            second["Cache-Status"]?.contains("hit") == true
                && second["Cache-Control"]?.hasPrefix("private") == true)
        #expect(without.status == 401 && wrong.status == 401 && both.status == 401)
        #expect(inQuery.status == 200 && inQuery["Cache-Control"]?.hasPrefix("public") == true)
        #expect(posted.pngSize == [30, 20] && posted["Image-Width"] == "30")
    }

    @Test("Allow names POST for imaginary's paths alone")
    func methods() async throws {
        let proxy = try await proxy()

        let imaginary = try await proxy.ask("PUT", "/ours/imaginary/resize")
        let thumbor = try await proxy.ask("PUT", "/ours/thumbor/unsafe/10x10/a.jpg")
        let posted = try await proxy.send([1, 2], to: "/ours/thumbor/unsafe/10x10/a.jpg")

        #expect(imaginary.status == 405 && imaginary["Allow"] == "GET, HEAD, OPTIONS, POST")
        #expect(thumbor.status == 405 && thumbor["Allow"] == "GET, HEAD, OPTIONS")
        #expect(posted.status == 405)
    }
}
