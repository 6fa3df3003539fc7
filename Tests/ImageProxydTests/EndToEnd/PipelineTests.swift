// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("From request to image")
struct PipelineTests {
    private static let jpeg = [
        ("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=600"), ("ETag", "\"v1\""),
    ]

    @Test("A photo is fetched, resized, stored, and then answered from memory")
    func firstAndSecond() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/photo.jpg", .body(Fixtures.photo, fields: Self.jpeg))
        let target = proxy.target("/photo.jpg", "transform=resize:300x200&format=png")

        let first = try await proxy.get(target)
        let second = try await proxy.get(target)

        #expect(first.status == 200)
        #expect(first["Content-Type"] == "image/png")
        #expect(first.pngSize == [300, 200])
        #expect(first["Cache-Status"] == "imageproxyd; fwd=uri-miss; fwd-status=200; stored")
        #expect(first["Cache-Control"] == "public, max-age=600")
        #expect(second.body == first.body)
        #expect(second["ETag"] == first["ETag"])
        #expect(second["Cache-Status"]?.hasPrefix("imageproxyd; hit; ttl=") == true)
        #expect(second["Cache-Status"]?.hasSuffix("; detail=memory") == true)
        #expect(proxy.origin.count("/photo.jpg") == 1)
    }

    @Test("A client's valid copy is answered by 304, with the same validators")
    func notModified() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/photo.jpg", .body(Fixtures.photo, fields: Self.jpeg))
        let target = proxy.target("/photo.jpg", "transform=resize:100x&format=jpeg")
        let full = try await proxy.get(target)
        let tag = try #require(full["ETag"])

        let same = try await proxy.get(target, "If-None-Match: \(tag)")
        let listed = try await proxy.get(target, "If-None-Match: \"other\", W/\(tag)")
        let other = try await proxy.get(target, "If-None-Match: \"other\"")

        #expect(same.status == 304)
        #expect(same["ETag"] == tag)
        #expect(same["Cache-Control"] == full["Cache-Control"])
        #expect(same.body.isEmpty)
        #expect(listed.status == 304)
        #expect(other.status == 200)
    }

    @Test("An untransformed image is the origin's own bytes")
    func untouched() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/photo.jpg", .body(Fixtures.photo, fields: [("Content-Type", "text/html")]))

        let answer = try await proxy.get(proxy.target("/photo.jpg"))

        #expect(answer.status == 200)
        #expect(answer.body == Fixtures.photo)
        #expect(answer["Content-Type"] == "image/jpeg")
        #expect(answer["X-Content-Type-Options"] == "nosniff")
    }

    @Test("Two sizes of one cold photo cost one fetch")
    func twoSizes() async throws {
        let proxy = try await Proxy()
        let gate = OriginGate()
        proxy.origin.route("/photo.jpg", OriginAnswer.body(Fixtures.photo, fields: Self.jpeg).held(by: gate))

        async let small = proxy.get(proxy.target("/photo.jpg", "transform=resize:100x100&format=png"))
        async let large = proxy.get(proxy.target("/photo.jpg", "transform=resize:600x400&format=png"))
        _ = await proxy.origin.waitForRequests("/photo.jpg")
        gate.open()

        #expect(try await small.pngSize == [100, 67])
        #expect(try await large.pngSize == [600, 400])
        let third = try await proxy.get(proxy.target("/photo.jpg", "transform=resize:50x&format=png"))
        #expect(third.pngSize == [50, 33])
        #expect(proxy.origin.count("/photo.jpg") == 1)
    }

    @Test("500 simultaneous requests for one cold result cost one fetch and one transform")
    func collapsing() async throws {
        let proxy = try await Proxy()
        let gate = OriginGate()
        proxy.origin.route("/photo.jpg", OriginAnswer.body(Fixtures.photo, fields: Self.jpeg).held(by: gate))
        let target = proxy.target("/photo.jpg", "transform=resize:300x200&format=png")
        let path = proxy.daemon.socketPath

        let clients = try await onThread {
            try (0..<500).map { _ in
                let client = try RawHTTPClient(unixSocket: path)
                try client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
                return client
            }
        }
        _ = await proxy.origin.waitForRequests("/photo.jpg")
        gate.open()
        let answers = try await onThread { try clients.map { try $0.answer() } }

        #expect(answers.allSatisfy { $0.status == 200 && $0.pngSize == [300, 200] })
        #expect(Set(answers.map { $0["ETag"] }).count == 1)
        #expect(proxy.origin.count("/photo.jpg") == 1)
        #expect(try await proxy.metric("imageproxyd_transform_total{format=\"png\",outcome=\"ok\"}") == 1)
    }

    @Test("When every client of a slow fetch has disconnected, the transfer at the origin ends")
    func allClientsLeave() async throws {
        let proxy = try await Proxy()
        proxy.origin.route(
            "/slow.jpg",
            .stalling(after: Array(Fixtures.photo.prefix(1_000)), declaring: Fixtures.photo.count))
        let target = proxy.target("/slow.jpg", "transform=resize:300x200")
        let path = proxy.daemon.socketPath
        let clients = try await onThread {
            try (0..<3).map { _ in
                let client = try RawHTTPClient(unixSocket: path)
                try client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
                return client
            }
        }
        _ = await proxy.origin.waitForRequests("/slow.jpg")

        for client in clients { client.hangUp() }

        await proxy.origin.waitForDepartures("/slow.jpg")
        #expect(proxy.origin.count("/slow.jpg") == 1)
        #expect(proxy.origin.log.completions["/slow.jpg"] == nil)
    }

    @Test("After a restart the disk tier is warm")
    func restart() async throws {
        let folder = try TemporaryDirectory()
        let origin = try FakeOrigin()
        origin.route("/photo.jpg", .body(Fixtures.photo, fields: Self.jpeg))
        let before = try await Proxy(in: folder, origin: origin)
        let first = try await before.get(before.target("/photo.jpg", "transform=resize:300x200&format=png"))
        before.daemon.send(signal: 15)
        #expect(try await before.daemon.exitCode() == 0)

        let after = try await Proxy(in: folder, origin: origin)
        let second = try await after.get(after.target("/photo.jpg", "transform=resize:300x200&format=png"))
        let third = try await after.get(after.target("/photo.jpg", "transform=resize:30x20&format=png"))

        #expect(second.body == first.body)
        #expect(second["Cache-Status"]?.hasSuffix("detail=disk") == true)
        #expect(third["Cache-Status"]?.hasSuffix("detail=original") == true)
        #expect(origin.count("/photo.jpg") == 1)
    }

    @Test("A stale copy is revalidated at the origin, and kept without another transform")
    func revalidation() async throws {
        let proxy = try await Proxy()
        proxy.origin.route(
            "/photo.jpg",
            OriginAnswer.validated(
                Fixtures.photo, entityTag: "\"v1\"", fields: [("Cache-Control", "max-age=0")]))
        let target = proxy.target("/photo.jpg", "transform=resize:300x200&format=png")
        let first = try await proxy.get(target)

        let second = try await proxy.get(target)

        #expect(second.status == 200)
        #expect(second.body == first.body)
        #expect(second["Cache-Status"]?.contains("fwd=stale; fwd-status=304") == true)
        #expect(proxy.origin.log.requests.last?["if-none-match"] == "\"v1\"")
        #expect(try await proxy.metric("imageproxyd_transform_total{format=\"png\",outcome=\"ok\"}") == 1)
    }

    @Test("A drawing is sent as pixels, never unchanged")
    func drawing() async throws {
        let proxy = try await Proxy(settings: "\"formats\": {\"decode\": [\"svg\", \"png\"]}")
        let drawing =
            #"<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><script>x</script><rect width="9" height="9"/></svg>"#
        proxy.origin.route("/a.svg", .body(Array(drawing.utf8), fields: [("Cache-Control", "max-age=600")]))
        for _ in 0..<2 {
            let answer = try await proxy.get(proxy.target("/a.svg"))
            #expect(answer["Content-Type"] == "image/png")
            #expect(answer.pngSize == [30, 20])
        }
        #expect(
            try await proxy.get(proxy.target("/a.svg"))["Cache-Status"]?.hasSuffix("detail=memory") == true)
        #expect(proxy.origin.count("/a.svg") == 1)
    }

    @Test("With the setting on, a drawing is sent unchanged, under a policy that runs nothing in it")
    func drawingAsItCame() async throws {
        let proxy = try await Proxy(
            settings: "\"formats\": {\"decode\": [\"svg\", \"png\"], \"svgPassThrough\": true}")
        let drawing =
            #"<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><script>x</script></svg>"#
        proxy.origin.route("/a.svg", .body(Array(drawing.utf8), fields: [("Cache-Control", "max-age=600")]))

        for _ in 0..<2 {
            let answer = try await proxy.get(proxy.target("/a.svg"))
            #expect(answer["Content-Type"] == "image/svg+xml")
            #expect(answer["Content-Security-Policy"] == "default-src 'none'; sandbox")
            #expect(answer["X-Content-Type-Options"] == "nosniff")
            #expect(answer.body == Array(drawing.utf8))
        }
        let pixels = try await proxy.get(proxy.target("/a.svg", "transform=resize:15x"))
        #expect(pixels["Content-Type"] == "image/png" && pixels.pngSize == [15, 10])
    }

    @Test("`Accept` may be sent on several lines (RFC 9110 §5.3)")
    func acceptOnSeveralLines() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/photo.jpg", .body(Fixtures.photo, fields: Self.jpeg))
        let target = proxy.target("/photo.jpg", "transform=resize:64x")
        for _ in 0..<2 {
            let answer = try await proxy.get(target, "Accept: image/png", "Accept: image/webp")
            #expect(answer["Content-Type"] == "image/webp")
        }
    }

    @Test("The format is the best that the client accepts, and Vary names Accept")
    func negotiation() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/photo.jpg", .body(Fixtures.photo, fields: Self.jpeg))
        let target = proxy.target("/photo.jpg", "transform=resize:60x40")

        let webp = try await proxy.get(target, "Accept: image/webp,*/*")
        let avif = try await proxy.get(target, "Accept: image/avif,image/webp,*/*")
        let plain = try await proxy.get(target)
        let again = try await proxy.get(target, "Accept: text/html, image/webp;q=0.9")

        #expect(webp["Content-Type"] == "image/webp")
        #expect(avif["Content-Type"] == "image/avif")
        #expect(plain["Content-Type"] == "image/jpeg")
        #expect(again["Content-Type"] == "image/webp")
        #expect(again["Cache-Status"]?.hasSuffix("detail=memory") == true)
        for answer in [webp, avif, plain, again] { #expect(answer["Vary"] == "Accept") }
        #expect(proxy.origin.count("/photo.jpg") == 1)
    }
}
