// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("Facts about sources and operations")
struct InformationTests {
    private func object(_ answer: RawHTTPClient.Answer) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
    }

    @Test("/info describes a source, from memory the second time, and without another fetch")
    func information() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/photo.jpg", .body(Fixtures.photo, type: "image/jpeg"))
        let target = proxy.target("/photo.jpg").replacing("/img?", with: "/info?")

        let first = try await proxy.get(target)
        let second = try await proxy.get(target)
        let image = try await proxy.get(proxy.target("/photo.jpg", "transform=resize:10x&format=png"))

        #expect(first.status == 200 && first["Content-Type"] == "application/json")
        let facts = try object(first)
        #expect(facts["width"] as? Int == 1200 && facts["height"] as? Int == 800)
        #expect(facts["bytes"] as? Int == Fixtures.photo.count)
        #expect((facts["dominantColor"] as? String)?.count == 7)
        #expect(second.body == first.body && second["ETag"] == first["ETag"])
        #expect(second["Content-Type"] == "application/json")
        #expect(second["Cache-Status"]?.hasSuffix("detail=memory") == true)
        #expect(image["Content-Type"] == "image/png")
        #expect(proxy.origin.count("/photo.jpg") == 1)
        for format in ["none", "png"] {
            let name = "imageproxyd_transform_total{format=\"\(format)\",outcome=\"ok\"}"
            #expect(try await proxy.metric(name) == 1, "\(format)")
        }
        #expect(
            try await proxy.get(target, "If-None-Match: \(try #require(first["ETag"]))").status == 304)
    }

    @Test("/info refuses parameters that shape an image, and reports a source that is not an image")
    func refusals() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/page", .body(Array("<html>".utf8), type: "text/html"))
        let page = proxy.target("/page").replacing("/img?", with: "/info?")

        let shaped = try await proxy.get(page + "&transform=resize:10x")
        let nothing = try await proxy.get("/info")
        let none = try await proxy.get(page)

        #expect(shaped.status == 400 && shaped.code == "unknown_parameter")
        #expect(nothing.status == 400 && nothing.code == "missing_parameter")
        #expect(none.status == 415 && none.code == "not_an_image")
    }

    @Test("/transforms lists every operation with its parameters")
    func transforms() async throws {
        let proxy = try await Proxy()

        let answer = try await proxy.get("/transforms")

        #expect(answer.status == 200 && answer["Content-Type"] == "application/json")
        let operations = try #require(try object(answer)["operations"] as? [[String: Any]])
        #expect(operations.count == 41)
        let blur = try #require(operations.first { $0["name"] as? String == "blur" })
        let sigma = try #require((blur["parameters"] as? [[String: Any]])?.first)
        #expect(sigma["minimum"] as? Double == 0.1 && sigma["maximum"] as? Double == 250)
        #expect(sigma["required"] as? Bool == true && sigma["scaledByDPR"] as? Bool == true)
        #expect(try await proxy.ask("POST", "/transforms").status == 405)
        let tag = try #require(answer["ETag"])
        let known = try await proxy.get("/transforms", "If-None-Match: \(tag)")
        #expect(known.status == 304 && known.body.isEmpty && known["ETag"] == tag)
        #expect(try await proxy.get("/transforms", "If-Match: \"other\"").status == 412)
    }

    @Test("A configured watermark is drawn; an unknown name is 400")
    func watermark() async throws {
        let folder = try TemporaryDirectory()
        let file = folder.path + "/logo.jpg"
        try Data(Fixtures.photo).write(to: URL(fileURLWithPath: file))
        let proxy = try await Proxy(settings: #""watermarks": {"logo": "\#(file)"}"#, in: folder)
        proxy.origin.route("/photo.jpg", .body(Fixtures.photo, type: "image/jpeg"))

        let plain = try await proxy.get(proxy.target("/photo.jpg", "transform=resize:100x&format=png"))
        let marked = try await proxy.get(
            proxy.target("/photo.jpg", "transform=resize:100x,watermark:logo:scale=0.3&format=png"))
        let unknown = try await proxy.get(proxy.target("/photo.jpg", "transform=watermark:seal"))

        #expect(marked.status == 200 && marked.pngSize == plain.pngSize && marked.body != plain.body)
        #expect(unknown.status == 400 && unknown.text.contains("'seal'"))
    }

    @Test("max_bytes bounds the answer, or is refused if nothing fits")
    func maxBytes() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/photo.jpg", .body(Fixtures.photo, type: "image/jpeg"))

        let small = try await proxy.get(
            proxy.target("/photo.jpg", "transform=resize:400x&format=webp&max_bytes=8000"))
        let impossible = try await proxy.get(proxy.target("/photo.jpg", "format=jpeg&max_bytes=100"))
        let lossless = try await proxy.get(
            proxy.target("/photo.jpg", "format=webp&lossless=1&max_bytes=8000"))

        #expect(small.status == 200 && small.body.count <= 8000 && small.body.count > 6000)
        #expect(impossible.status == 422 && impossible.code == "max_bytes_unreachable")
        #expect(lossless.status == 400)
    }
}
