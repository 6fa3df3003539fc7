// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Freshness
@testable import Imaging
@testable import Request
@testable import URLs

@Suite("Parameters in the path")
struct PathFormTests {
    private static let key = Array("imageproxyd-test-key-1".utf8)
    private static let source64 = "aHR0cHM6Ly9leGFtcGxlLm9yZy9jYXQuanBn"

    private func query(_ path: String) throws -> String {
        String(decoding: try PathForm.query(of: Array(path.utf8)), as: UTF8.self)
    }

    private func parse(_ target: String, keys: [[UInt8]] = []) throws -> ImageRequest {
        var policy = RequestPolicy(sources: .unrestricted)
        policy.signatures = SignaturePolicy(keys: keys, isRequired: true)
        let parser = ImageRequestParser(
            limits: RenderLimits(), formats: FormatsConfiguration(), quality: QualityConfiguration(),
            policy: policy)
        return try parser.parse(target: Array(target.utf8), at: 0) { AcceptClass() }
    }

    @Test(
        "A path is another way of writing a query",
        arguments: [
            ("https://h/cat.jpg", "url=https://h/cat.jpg"),
            ("https%3A%2F%2Fh%2Fcat.jpg", "url=https%3A%2F%2Fh%2Fcat.jpg"),
            (source64, "url64=\(source64)"),
            ("\(source64).webp", "format=webp&url64=\(source64)"),
            ("https://h/cat.jpg@webp", "format=webp&url=https://h/cat.jpg"),
            ("https://h/cat@2x.jpg", "url=https://h/cat@2x.jpg"),
            ("https://h/cat@2x", "url=https://h/cat@2x"),
            ("https://h/cat%40webp", "url=https://h/cat%40webp"),
            ("https%3A%2F%2Fh%2Fcat@webp", "format=webp&url=https%3A%2F%2Fh%2Fcat"),
            (
                "transform=resize:300x,round:20/quality=80/https://h/cat.jpg",
                "transform=resize:300x,round:20&quality=80&url=https://h/cat.jpg"
            ),
            (
                "quality=80/https://h/cat.jpg@webp", "quality=80&format=webp&url=https://h/cat.jpg"
            ),
            ("quality=80/sig=abc/https://h/a=b/c", "quality=80&url=https://h/a=b/c&sig=abc"),
            ("https://h/a%3Fx=1%26y=2", "url=https://h/a%3Fx=1%26y=2"),
            ("https:/h/cat.jpg", "url=https://h/cat.jpg"),
            ("quality=80/http:/h/cat.jpg@webp", "quality=80&format=webp&url=http://h/cat.jpg"),
            ("https:%2Fh/cat.jpg", "url=https:%2Fh/cat.jpg"),
            ("h/cat.jpg", "url=h/cat.jpg"),
            ("%74ag=a/https://h/b", "url=%74ag=a/https://h/b"),
        ])
    func forms(path: String, parameters: String) throws {
        #expect(try query("/img/" + path) == "/img?" + parameters)
    }

    @Test("Other targets stay as they are", arguments: ["/img?url=a", "/img", "/info?url=/img/a", "/imgs/a"])
    func others(target: String) throws {
        #expect(try query(target) == target)
    }

    @Test(
        "What proxies would change, or what could be read in two ways, is refused",
        arguments: [
            "https://h/a.jpg?x=1", "https://h/a.jpg?url=https://h/b.jpg", "https://h/a.jpg?sig=a",
            "https://h/a.jpg&sig=a", "quality=80&tag=a/https://h/a.jpg", "https://h/../a.jpg",
            "https://h/%2e%2e/a.jpg", "https://h%2F..%2Fa.jpg", "../quality=80/https://h/a.jpg", ".",
            "./https://h/a", "https://h/a/.", "https://h/..%5Ca", "quality=80/../https://h/a.jpg",
            "quality=80", "url=https%3A%2F%2Fh%2Fa", "\(source64)=", "", "quality=80/",
        ])
    func refused(path: String) {
        #expect(throws: ImageRequestError.self) { try query("/img/" + path) }
    }

    @Test(
        "A second source, a repeated name, an empty name or value, and a misspelt name are refused as in a query",
        arguments: [
            "url=https%3A%2F%2Fh%2Fa/https://h/b", "url64=\(source64)/https://h/b",
            "quality=80/quality=80/https://h/b", "format=png/https://h/b@webp", "quality=/https://h/b",
            "=80/https://h/b", "/https://h/b", "nosuch=1/https://h/b", "Quality=80/https://h/b",
            "%71uality=80/https://h/b", "https://h/b@nosuch", "\(source64).", ".webp", "h/b.jpg", "ftp://h/b",
            "sig=a/quality=80/https://h/b", "sig=a/sig=b/https://h/b", "quality=80/%2Fhttps://h/b",
            "https%253A%252F%252Fh%252Fb", "https://h/%ZZ", "cat.jpg",
        ])
    func parsed(path: String) {
        #expect(throws: ImageRequestError.self) { try parse("/img/" + path) }
    }

    @Test("A path means the same picture as its query, decoded once")
    func equal() throws {
        let wanted = try parse(
            "/img?url=https%3A%2F%2Fexample.org%2Fcat.jpg&transform=resize:300x200:cover&format=webp")
        for path in [
            "transform=resize:300x200:cover/format=webp/https://example.org/cat.jpg",
            "format=webp/transform=resize:300x200:cover/https%3A%2F%2Fexample.org%2Fcat.jpg",
            "transform=resize%3A300x200%3Acover/https:/example.org/cat.jpg@webp",
            "transform=resize:300x200:cover/\(Self.source64).webp",
        ] {
            #expect(try parse("/img/" + path).resultKeyText == wanted.resultKeyText, "\(path)")
        }
        let escaped = try parse("/img/https://h/a%252Fb%3Fx=%2526")
        #expect(escaped.source.normalized == "https://h/a%2Fb?x=%26")
    }

    // MARK: - Signatures

    @Test("The signature is that of the query, and stands before the source")
    func signed() throws {
        let path = "/img/transform=resize:30x/https://h/a/b.jpg@webp"
        let query = "/img?transform=resize:30x&format=webp&url=https://h/a/b.jpg"
        let code = SignaturePolicy.sign(query, with: Self.key).dropFirst(query.count + 5)

        let signed = try PathForm.sign(path, with: Self.key)

        #expect(signed == "/img/transform=resize:30x/sig=\(code)/https://h/a/b.jpg@webp")
        for same in [
            signed, signed.replacing("https://", with: "https:/"),
            "/img/transform=resize:30x/format=webp/sig=\(code)/https://h/a/b.jpg",
        ] {
            #expect(try parse(same, keys: [Self.key]).mayGoFirst)
        }
        let foreign = try PathForm.sign("/img/https://h/ä\u{301}.jpg", with: Self.key)
        #expect(try parse(foreign, keys: [Self.key]).mayGoFirst)
        #expect(throws: ImageRequestError.self) { try PathForm.sign(signed, with: Self.key) }
        #expect(try PathForm.sign(query, with: Self.key) == SignaturePolicy.sign(query, with: Self.key))
    }

    @Test(
        "A signed path that was changed, cut, reordered or encoded otherwise is refused",
        arguments: [
            "/img/transform=resize:31x/quality=80/sig=SIG/https://h/a//b.jpg",
            "/img/quality=80/transform=resize:30x/sig=SIG/https://h/a//b.jpg",
            "/img/transform=resize:30x/sig=SIG/https://h/a//b.jpg",
            "/img/transform=resize:30x/quality=80/sig=SIG/https://h/a//b.jp",
            "/img/transform=resize:30x/quality=80/sig=SIG/https://h/a/b.jpg",
            "/img/transform=resize:30x/quality=80/sig=SIG/https://h/a/%2Fb.jpg",
            "/img/transform=resize:30x/quality=80/sig=SIG/https%3A%2F%2Fh%2Fa%2F%2Fb.jpg",
            "/img/transform=resize:30x/quality=80/sig=SIG/https%253A//h/a//b.jpg",
            "/img/transform=resize:30x/quality=80/sig=SIG/https://h/a//b.jpg@webp",
            "/img/transform=resize:30x/quality=80/sig=SIG/https://h/a//b.jpg/",
            "/img/transform=resize:30x/quality=80/sig=SIG//https://h/a//b.jpg",
            "/img/transform=resize%3A30x/quality=80/sig=SIG/https://h/a//b.jpg",
            "/img/transform=resize:30x/quality=80/sig=SIG/tag=a/https://h/a//b.jpg",
            "/img/transform=resize:30x/quality=80/tag=a/sig=SIG/https://h/a//b.jpg",
            "/img/sig=SIG/transform=resize:30x/quality=80/https://h/a//b.jpg",
            "/img/transform=resize:30x/quality=80/sig=SIG=/https://h/a//b.jpg",
            "/img/transform=resize:30x/quality=80/sig=/https://h/a//b.jpg",
            "/img/transform=resize:30x/quality=80/sig/https://h/a//b.jpg",
            "/img/transform=resize:30x/quality=80/https://h/a//b.jpg",
            "/img/transform=resize:30x/quality=80/https://h/a//b.jpg/sig=SIG",
            "/img/transform=resize:30x/quality=80/https://h/a//b.jpg&sig=SIG",
            "/img/transform=resize:30x/quality=80/sig=SIG/https://h/a//b.jpg?url=https://h/c",
        ])
    func forged(path: String) throws {
        let good = "/img/transform=resize:30x/quality=80/https://h/a//b.jpg"
        let signed = try PathForm.sign(good, with: Self.key)
        let code = try #require(signed.split(separator: "/").first { $0.hasPrefix("sig=") }).dropFirst(4)

        #expect(try parse(signed, keys: [Self.key]).mayGoFirst)
        #expect(throws: ImageRequestError.self) {
            try parse(path.replacing("SIG", with: code), keys: [Self.key])
        }
    }

    @Test("Whatever is changed in a signed path: it is refused, or its query is the signed one")
    func mutations() throws {
        let pieces = [
            "/", "//", "%2F", "%25", "%", "?", "&", "=", "@", ".", "..", "sig=", "url=", ":", "a", "A", "",
        ]
        let paths = [
            "/img/transform=resize:30x/quality=80/https://h/a//b.jpg@webp", "/img/\(Self.source64).webp",
            "/img/tag=a/https%3A%2F%2Fh%2Fb.jpg%3Fx%3D1",
        ]
        var random = SplitMix(seed: 11)
        var understood = 0
        for path in paths {
            let signed = try PathForm.sign(path, with: Self.key)
            let wanted = try query(signed)
            for _ in 0..<4_000 {
                var text = Array(signed)
                for _ in 0...random.next() % 2 {
                    let place = Int(random.next() % UInt64(text.count + 1))
                    let end = min(text.count, place + Int(random.next() % 3))
                    text.replaceSubrange(place..<end, with: pieces[Int(random.next() % UInt64(pieces.count))])
                }
                let changed = String(text)
                guard changed.hasPrefix("/img/"), (try? parse(changed, keys: [Self.key])) != nil else {
                    continue
                }
                understood += 1
                #expect(try query(changed) == wanted, "\(changed)")
            }
        }
        #expect(understood > 0)
    }
}
