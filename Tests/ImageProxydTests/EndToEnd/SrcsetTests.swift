// SPDX-License-Identifier: Apache-2.0

import Foundation
import Primitives
import Request
import TestSupport
import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("Facts for pages")
struct SrcsetTests {
    private static let key = Array("imageproxyd-test-key-1".utf8)

    private static func object(_ answer: RawHTTPClient.Answer) throws -> JSONValue {
        var parser = JSONParser(answer.body)
        return try parser.parse()
    }

    private static func target(_ proxy: Proxy, _ parameters: String) -> String {
        proxy.target("/photo.jpg", parameters).replacing("/img?", with: "/srcset?")
    }

    private static func proxy(_ security: String = "", in folder: TemporaryDirectory? = nil) async throws
        -> Proxy
    {
        let proxy = try await Proxy(security: security, in: folder)
        proxy.origin.route(
            "/photo.jpg",
            OriginAnswer.validated(
                Fixtures.photo, entityTag: "\"v1\"", fields: [("Cache-Control", "max-age=600")]))
        return proxy
    }

    @Test(
        "It has an entity tag, by which a client asks again; a request that has passed the daemon is a loop")
    func conditions() async throws {
        let proxy = try await Self.proxy()
        let target = Self.target(proxy, "widths=320")

        let answer = try await proxy.get(target)
        let tag = try #require(answer["ETag"])
        let again = try await proxy.get(target, "If-None-Match: \(tag)")
        let other = try await proxy.get(Self.target(proxy, "widths=321"), "If-None-Match: \(tag)")
        let changed = try await proxy.get(target, "If-Match: \"x\"")
        let loop = try await proxy.get(target, "Via: 1.1 imageproxyd", "CDN-Loop: imageproxyd")

        #expect(again.status == 304 && again.body.isEmpty && again["ETag"] == tag)
        #expect(other.status == 200 && other["ETag"] != tag)
        #expect(changed.status == 412)
        #expect(loop.status == 508)
    }

    @Test("Where only presets make sizes, it says so, to operators too")
    func onlyPresets() async throws {
        let proxy = try await Proxy(
            settings: #""presets": {"thumb": {"transform": "resize:10x"}}"#, security: #""onlyPresets": true"#
        )
        let target = "/srcset?url=\(proxy.origin.url("/a.jpg").asQueryValue)"

        for answer in [try await proxy.get(target), try await proxy.administer("GET", target)] {
            #expect(answer.status == 403 && answer.code == "option_forbidden")
            #expect(answer.text.contains("security.onlyPresets"))
        }
    }

    @Test("An answer whose URLs would be long is refused for every client: others would wait for it")
    func long() async throws {
        let proxy = try await Self.proxy()
        let path = "/" + String(repeating: "a/", count: 1_500)
        let target = proxy.target(path, "widths=320,640,960").replacing("/img?", with: "/srcset?")
        let answer = try await proxy.get(target)
        #expect(answer.status == 400 && answer.text.contains("name fewer"))
        #expect(proxy.origin.count(path) == 0)
        #expect(try await proxy.get(Self.target(proxy, "widths=%2B5")).status == 400)
    }

    @Test("It has URLs that are as wide as they say, the sizes, and placeholders")
    func answer() async throws {
        let proxy = try await Self.proxy()

        let answer = try await proxy.get(Self.target(proxy, "widths=640,320&format=png"))
        let facts = try Self.object(answer)
        let information = try Self.object(
            try await proxy.get(proxy.target("/photo.jpg").replacing("/img?", with: "/info?")))

        #expect(answer.status == 200 && answer["Content-Type"] == "application/json")
        #expect(answer["Cache-Control"]?.contains("max-age=600") == true)
        #expect(facts.int("width") == 1_200 && facts.int("height") == 800)
        #expect(facts.text("sizes") == "(max-width: 640px) 100vw, 640px")
        let images = facts.rows("images")
        #expect(
            images.map { $0.int("width") } == [320, 640] && images.map { $0.int("height") } == [213, 427])
        for image in images {
            #expect(
                try await proxy.get(image.text("url")).pngSize == [image.int("width"), image.int("height")])
        }
        #expect(facts.text("src") == images[1].text("url"))
        #expect(
            facts.text("srcset")
                == images.map { "\($0.text("url")) \($0.int("width"))w" }.joined(separator: ", "))
        for name in ["blurHash", "thumbHash", "dominantColor"] {
            #expect(facts.text(name) == information.text(name) && !facts.text(name).isEmpty)
        }
        #expect(proxy.origin.count("/photo.jpg") == 1)
    }

    @Test("The placeholder is a small WebP")
    func placeholder() async throws {
        let proxy = try await Self.proxy()

        let facts = try Self.object(try await proxy.get(Self.target(proxy, "widths=320")))

        let start = "data:image/webp;base64,"
        #expect(facts.text("placeholder").hasPrefix(start))
        let data = try #require(Data(base64Encoded: String(facts.text("placeholder").dropFirst(start.count))))
        #expect(data.count <= 2_048 && data.dropFirst(8).starts(with: Array("WEBP".utf8)))
    }

    @Test("Nothing is enlarged: the source's own width stands for those beyond it")
    func large() async throws {
        let proxy = try await Self.proxy()

        func widths(_ parameters: String) async throws -> [Int] {
            try Self.object(try await proxy.get(Self.target(proxy, parameters))).rows("images").map {
                $0.int("width")
            }
        }

        #expect(try await widths("") == [320, 640, 960, 1_200])
        #expect(try await widths("widths=4000,8000") == [1_200])
        #expect(try await widths("widths=1200") == [1_200])
    }

    @Test(
        "What is wrong is named",
        arguments: [
            ("widths=320,x", "invalid_parameter", "widths"), ("widths=0", "invalid_parameter", "widths"),
            ("widths=8193", "invalid_parameter", "widths"), ("widths=", "invalid_parameter", "widths"),
            ("widths=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", "invalid_parameter", "widths"),
            ("quality=101", "invalid_parameter", "quality"), ("format=bmp", "invalid_parameter", "format"),
            ("transform=resize:3x", "unknown_parameter", "transform"), ("expires=1", "url_expired", ""),
        ])
    func refusals(parameters: String, code: String, name: String) async throws {
        let proxy = try await Self.proxy()

        let answer = try await proxy.get(Self.target(proxy, parameters))

        #expect(answer.code == code && (name.isEmpty || answer.text.contains(name)))
        #expect(answer["Content-Type"] == "application/problem+json")
        #expect(proxy.origin.count("/photo.jpg") == 0)
    }

    @Test("A missing source and one that is no picture are errors, and so are other methods")
    func sources() async throws {
        let proxy = try await Self.proxy()

        #expect(try await proxy.get("/srcset").code == "missing_parameter")
        let missing = try await proxy.get(proxy.target("/gone.jpg").replacing("/img?", with: "/srcset?"))
        #expect(missing.status == 404 && missing.code == "upstream_not_found")
        #expect(try await proxy.ask("POST", Self.target(proxy, "")).status == 405)
        let head = try await proxy.ask("HEAD", Self.target(proxy, "widths=320"))
        #expect(head.status == 200 && head.body.isEmpty)
    }

    @Test("Where URLs are signed, only a signed request or an operator's gets signed URLs")
    func signed() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(
            Array("base64:".utf8) + Array(Data(Self.key).base64EncodedString().utf8) + [10], to: "key")
        let proxy = try await Self.proxy(#""keys": ["\#(folder.path)/key"]"#, in: folder)
        let later = Int(Date().timeIntervalSince1970) + 600
        let target = Self.target(proxy, "widths=320&format=png&expires=\(later)")

        let unsigned = try await proxy.get(target)
        let signed = try Self.object(try await proxy.get(SignaturePolicy.sign(target, with: Self.key)))
        let admin = try await proxy.administer("GET", target)
        let changed = SignaturePolicy.sign(target, with: Self.key).replacing("widths=320", with: "widths=321")

        #expect(unsigned.code == "signature_required")
        #expect(try await proxy.get(changed).code == "signature_mismatch")
        #expect(signed.text("src").contains("&expires=\(later)&sig="))
        #expect(try await proxy.get(signed.text("src")).pngSize == [320, 213])
        #expect(try Self.object(admin).text("src") == signed.text("src"))
        #expect(admin["Cache-Control"] == "no-store")
    }

    @Test("Where signatures are optional, an unsigned request gets unsigned URLs")
    func optional() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(Self.key, to: "key")
        let proxy = try await Self.proxy(
            #""keys": ["\#(folder.path)/key"], "requireSignature": false"#, in: folder)

        let facts = try Self.object(try await proxy.get(Self.target(proxy, "widths=320")))

        #expect(!facts.text("srcset").contains("sig="))
    }
}
