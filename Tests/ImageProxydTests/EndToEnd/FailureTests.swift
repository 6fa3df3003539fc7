// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("Failures")
struct FailureTests {
    @Test("A refused redirect, a signature without a key and metrics for operators alone are explained")
    func explanations() async throws {
        let folder = try TemporaryDirectory()
        let proxy = try await Proxy(
            settings: "\"admin\": {\"listen\": [\"unix:\(folder.path)/admin.sock\"]}")
        proxy.origin.route("/file", .redirect(to: "ftp://files.example/a.jpg"))

        let redirected = try await proxy.get(proxy.target("/file"))
        let signed = try await proxy.get(proxy.target("/file", "sig=abc"))
        let metrics = try await proxy.get("/metrics")

        #expect(redirected.status == 403)
        #expect(redirected.text.contains("redirects to a URL that is not allowed"))
        #expect(!redirected.text.contains("files.example"))
        #expect(signed.status == 403 && signed.text.contains("no key in security.keys"))
        #expect(metrics.status == 404 && metrics.text.contains("admin.listen"))
    }

    @Test("Each failure has its own status and code, and the daemon continues")
    func table() async throws {
        let proxy = try await Proxy(
            settings: """
                "fetch": {"maxBytes": "200KiB"}, \
                "limits": {"sourcePixels": 1000000}
                """)
        let origin = proxy.origin
        let html = Array("<!doctype html><title>not here</title>".utf8)
        origin.route("/page.jpg", .body(html, fields: [("Content-Type", "image/jpeg")]))
        origin.route("/gone", .status(410))
        origin.route("/error", .status(500))
        origin.route("/teapot", .status(418))
        origin.route("/loop", .redirect(to: "/loop"))
        origin.route("/file", .redirect(to: "file:///etc/passwd"))
        origin.route("/inside", .redirect(to: "http://10.0.0.1/"))
        origin.route(
            "/cut.jpg", .truncated(Array(Fixtures.photo.prefix(5_000)), declaring: Fixtures.photo.count))
        origin.route(
            "/lengths.jpg",
            OriginAnswer([
                .send(
                    OriginAnswer.head(200, [("Content-Length", "9"), ("Content-Length", "5000")])
                        + Fixtures.photo)
            ]))
        origin.route("/broken.jpg", .body(Array(Fixtures.photo.prefix(5_000))))
        origin.route("/large", .body([UInt8](repeating: 0xFF, count: 300_000)))
        origin.route("/photo.jpg", .body(Fixtures.photo))
        let resize = "transform=resize:90x60"
        let expected: [(target: String, status: Int, code: String)] = [
            ("/img", 400, "missing_parameter"),
            ("/img?url=", 400, "invalid_parameter"),
            ("/img?url=x", 400, "invalid_url"),
            ("/img?url=ftp%3A%2F%2Fa%2Fb", 400, "unsupported_scheme"),
            (proxy.target("/photo.jpg", "width=3"), 400, "unknown_parameter"),
            (proxy.target("/photo.jpg", "transform=resize:axb"), 400, "invalid_parameter"),
            (proxy.target("/photo.jpg", "quality=101"), 400, "invalid_parameter"),
            ("/img?url=http%3A%2F%2F10.0.0.1%2F", 403, "address_forbidden"),
            ("/img?url=http%3A%2F%2F169.254.169.254%2F", 403, "address_forbidden"),
            (proxy.target("/nothing"), 404, "upstream_not_found"),
            (proxy.target("/gone"), 404, "upstream_not_found"),
            (proxy.target("/page.jpg"), 415, "not_an_image"),
            (proxy.target("/page.jpg", resize), 415, "not_an_image"),
            (proxy.target("/broken.jpg", resize), 422, "bad_image_data"),
            (proxy.target("/large"), 422, "source_too_large"),
            (proxy.target("/photo.jpg", "frame=7"), 422, "frame_out_of_range"),
            (proxy.target("/error"), 502, "upstream_status"),
            (proxy.target("/teapot"), 502, "upstream_status"),
            (proxy.target("/loop"), 502, "too_many_redirects"),
            (proxy.target("/file"), 403, "source_forbidden"),
            (proxy.target("/inside"), 403, "address_forbidden"),
            (proxy.target("/cut.jpg", resize), 502, "upstream_incomplete"),
            (proxy.target("/lengths.jpg"), 502, "upstream_incomplete"),
            (proxy.target("/photo.jpg", "format=jpeg&lossless=1"), 400, "invalid_parameter"),
            ("/img?url=http%3A%2F%2F127.0.0.1%3A1%2F", 403, "address_forbidden"),
        ]
        for (target, status, code) in expected {
            let answer = try await proxy.get(target)
            #expect(answer.status == status, "\(target)")
            #expect(answer.code == code, "\(target): \(answer.text)")
            #expect(answer["Content-Type"] == "application/problem+json")
        }
        #expect(try await proxy.get(proxy.target("/photo.jpg", resize)).status == 200)
    }

    @Test("A name that resolves to a forbidden address gives the same answer as one that does not resolve")
    func hiddenName() async throws {
        let proxy = try await Proxy(security: "\"deniedNetworks\": [\"127.0.0.0/8\", \"::1/128\"]")
        let fields = ["Date", "X-Request-Id"]
        for route in ["img", "info"] {
            for query in ["", "%3Fa"] {
                var answers: [RawHTTPClient.Answer] = []
                // The first leads to the origin; the second does not exist (RFC 6761 §6.4).
                for host in ["localhost", "a.invalid"] {
                    answers.append(
                        try await proxy.get(
                            "/\(route)?url=http%3A%2F%2F\(host)%3A\(proxy.origin.port)%2F\(query)"))
                }
                let seen = answers.map { answer in
                    answer.fields.filter { !fields.contains($0.name) }.map { "\($0.name): \($0.value)" }
                }

                #expect(answers.map(\.status) == [502, 502])
                #expect(answers[0].text.contains("security.allowedNetworks"))
                #expect(answers[0].text == answers[1].text)
                #expect(seen[0] == seen[1])
            }
        }

        #expect(proxy.origin.log.connections == 0)
        // The operator can distinguish them.
        #expect(try await proxy.metric("imageproxyd_fetch_total{outcome=\"forbidden\"}") == 4)
        #expect(try await proxy.metric("imageproxyd_fetch_total{outcome=\"unreachable\"}") == 4)
        proxy.daemon.send(signal: 15)
        #expect(try await proxy.daemon.exitCode() == 0)
        for code in ["address_forbidden", "upstream_unreachable"] { #expect(proxy.daemon.log.contains(code)) }
    }

    @Test("A refusal names the setting that permits the request, and the format that was received")
    func settings() async throws {
        let proxy = try await Proxy()
        let bmp =
            Array("BM".utf8) + [UInt8](repeating: 0, count: 12) + [40] + [UInt8](repeating: 0, count: 39)
        for (path, bytes) in [
            ("/a.svg", Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8)),
            ("/a.tif", [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0]),
            ("/a.bmp", bmp), ("/a.ico", [0, 0, 1, 0, 1, 0, 16, 16]), ("/a.pdf", Array("%PDF-1.7\n".utf8)),
            ("/a.txt", Array("BMW and other words".utf8)),
        ] {
            proxy.origin.route(path, .body(bytes))
        }

        for (target, code, words) in [
            (proxy.target("/a.svg"), "unsupported_format", ["'svg'", "formats.decode"]),
            (proxy.target("/a.tif"), "unsupported_format", ["'tiff'", "formats.decode"]),
            (proxy.target("/a.bmp"), "unsupported_format", ["'BMP' is not supported", "jpeg, png, webp"]),
            (proxy.target("/a.ico"), "unsupported_format", ["'ICO' is not supported"]),
            (proxy.target("/a.pdf"), "unsupported_format", ["'PDF' is not supported"]),
            (proxy.target("/a.txt"), "not_an_image", ["jpeg, png, webp"]),
            ("/img?url=http%3A%2F%2F10.0.0.1%2F", "address_forbidden", ["security.allowedNetworks"]),
            ("/img?url=http%3A%2F%2Flocalhost%3A22%2F", "address_forbidden", ["security.ports"]),
        ] {
            let answer = try await proxy.get(target)
            #expect(answer.code == code, "\(target)")
            for word in words { #expect(answer.text.contains(word), "\(target): \(answer.text)") }
        }
    }

    @Test("An origin that does not answer is 504")
    func silence() async throws {
        // Real time, as little as can be set: the daemon is a process, whose clock no test advances.
        let proxy = try await Proxy(settings: "\"fetch\": {\"firstByteTimeout\": \"1ms\"}")
        proxy.origin.route("/silent", .silence)

        let answer = try await proxy.get(proxy.target("/silent"))

        #expect(answer.status == 504)
        #expect(answer.code == "upstream_timeout")
    }

    @Test("A result that fails for a reason of its own does not fail its source's other results")
    func absurdResult() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/photo.jpg", .body(Fixtures.photo))

        let absurd = try await proxy.get(
            proxy.target("/photo.jpg", "transform=resize:30000x30000:fill:enlarge=1"))
        let modest = try await proxy.get(proxy.target("/photo.jpg", "transform=resize:77x"))

        #expect(absurd.status == 422)
        #expect(absurd.code == "too_many_pixels")
        #expect(absurd["Cache-Control"] == "no-store")
        #expect(modest.status == 200)
    }

    @Test("A permanent failure costs one fetch, and the answer says how long it is remembered")
    func blacklist() async throws {
        let proxy = try await Proxy()

        let first = try await proxy.get(proxy.target("/nothing"))
        let second = try await proxy.get(proxy.target("/nothing", "transform=resize:10x10"))

        #expect(first.status == 404)
        #expect(second.status == 404)
        #expect(second["Cache-Control"]?.hasPrefix("max-age=") == true)
        #expect(proxy.origin.count("/nothing") == 1)
        #expect(try await proxy.metric("imageproxyd_failed_urls{class=\"not_found\"}") == 1)
    }

    @Test("A closed terminal does not end the daemon (SIGHUP)")
    func hangUp() async throws {
        let proxy = try await Proxy()

        proxy.daemon.send(signal: 1)
        let answer = try await proxy.get("/healthz")
        proxy.daemon.send(signal: 15)

        #expect(answer.status == 200)
        #expect(try await proxy.daemon.exitCode() == 0)
    }

    @Test("Unknown paths are 404, other methods 405 with Allow")
    func routes() async throws {
        let proxy = try await Proxy()

        #expect(try await proxy.get("/nowhere").status == 404)
        #expect(try await proxy.get("/healthz").status == 200)
        #expect(try await proxy.get("/readyz").status == 200)
    }

    @Test("Connections to origins are counted by their use, also those with more bytes than one answer")
    func connectionsByUse() async throws {
        let proxy = try await Proxy()
        let gate = OriginGate()
        let answer = OriginAnswer.head(200, [("Content-Length", "\(Fixtures.photo.count)")]) + Fixtures.photo
        let further = OriginAnswer.head(200, [("Content-Length", "4")]) + Array("evil".utf8)
        proxy.origin.route("/a.jpg", .body(Fixtures.photo))
        proxy.origin.route("/b.jpg", OriginAnswer([.send(answer), .wait(gate), .send(further), .delivered]))
        proxy.origin.route("/c.jpg", .body(Fixtures.photo))

        for path in ["/a.jpg", "/b.jpg"] { #expect(try await proxy.get(proxy.target(path)).status == 200) }
        gate.open()
        await proxy.origin.wait { $0.completions["/b.jpg"] == 1 }
        #expect(try await proxy.get(proxy.target("/c.jpg")).body == Fixtures.photo)

        for (use, count) in [("new", 2.0), ("reused", 1), ("tainted", 1)] {
            let name = "imageproxyd_fetch_connections_total{use=\"\(use)\"}"
            #expect(try await proxy.metric(name) == count, "\(use)")
        }
    }
}
