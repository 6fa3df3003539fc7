// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Request

@Suite("Requests with parameters in the path")
struct PathFormEndToEndTests {
    private static let key = Array("imageproxyd-test-key-1".utf8)

    @Test("The second request is a memory hit, and a query for the same picture finds it")
    func hits() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.jpg", .body(Fixtures.photo))
        let path = "/img/transform=resize:30x20/\(proxy.origin.url("/a.jpg"))@png"

        let first = try await proxy.get(path)
        let second = try await proxy.get(path)
        let merged = try await proxy.get(path.replacing("://", with: ":/"))
        let asked = try await proxy.get(proxy.target("/a.jpg", "format=png&transform=resize:30x20"))

        #expect(first.pngSize == [30, 20])
        #expect(second["Cache-Status"]?.hasSuffix("detail=memory") == true)
        #expect(merged.body == first.body && asked.body == first.body)
        #expect(asked["Cache-Status"]?.contains("hit") == true)
        #expect(proxy.origin.count("/a.jpg") == 1)
    }

    @Test("With keys, only signed paths are answered, and no hit is found by another spelling")
    func signatures() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(Self.key, to: "key")
        let proxy = try await Proxy(security: "\"keys\": [\"\(folder.path)/key\"]", in: folder)
        proxy.origin.route("/a.jpg", .body(Fixtures.photo))
        let path = "/img/transform=resize:30x20/format=png/\(proxy.origin.url("/a.jpg"))"
        let signed = try PathForm.sign(path, with: Self.key)

        #expect(try await proxy.get(signed).pngSize == [30, 20])
        #expect(try await proxy.get(signed)["Cache-Status"]?.hasSuffix("detail=memory") == true)
        let without = try await proxy.get(path)
        let changed = try await proxy.get(signed.replacing("30x20", with: "31x20"))
        let queried = try await proxy.get(signed + "?a=1")

        #expect(without.status == 403 && without.code == "signature_required")
        #expect(changed.status == 403 && changed.code == "signature_mismatch")
        #expect(queried.status == 400 && queried.code == "invalid_parameter")
    }

    @Test("A source that a query may not name can't be named by a path")
    func forbidden() async throws {
        let proxy = try await Proxy(security: "\"sources\": [\"https://a.example/*\"]")

        let source = try await proxy.get("/img/\(proxy.origin.url("/a.jpg"))")
        let upload = try await proxy.get("/img/http://upload.invalid/00")
        let none = try await proxy.get("/img/")

        #expect(source.status == 403 && source.code == "source_forbidden")
        #expect(upload.status == 403 && upload.code == "source_forbidden")
        #expect(none.status == 400 && none.code == "missing_parameter")
    }

    @Test("Other proxies' URLs below / come first")
    func dialects() async throws {
        let origin = try FakeOrigin()
        let base = "\"base\": \"\(origin.url("/"))\""
        let proxy = try await Proxy(
            settings: "\"dialects\": [{\"name\": \"imgix\", \"prefix\": \"/\", \(base)}]", origin: origin)
        origin.route("/img/quality=80/a.jpg", .body(Fixtures.photo))

        let answer = try await proxy.get("/img/quality=80/a.jpg?w=30&fm=png")

        #expect(answer.pngSize == [30, 20], "\(answer.text)")
    }

    @Test("Allow names POST where a body is taken, and not for a path that names the source")
    func methods() async throws {
        let open = try await Proxy(security: "\"allowUploads\": true")
        let closed = try await Proxy()

        for target in ["/img", "/info"] {
            #expect(try await open.ask("OPTIONS", target)["Allow"] == "GET, HEAD, OPTIONS, POST")
            let refused = try await open.ask("PUT", target)
            #expect(refused.status == 405 && refused["Allow"] == "GET, HEAD, OPTIONS, POST")
            #expect(try await closed.ask("OPTIONS", target)["Allow"] == "GET, HEAD, OPTIONS")
        }
        let path = try await open.send(Fixtures.photo, to: "/img/http://a.example/b.jpg")
        #expect(path.status == 405 && path["Allow"] == "GET, HEAD, OPTIONS")
        #expect(try await open.ask("OPTIONS", "/transforms")["Allow"] == "GET, HEAD, OPTIONS")
    }

    @Test("The log of a path has neither its signature nor its source's URL")
    func log() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/secret-name.jpg", .body(Fixtures.photo))
        let path = "/img/transform=resize:30x20/\(proxy.origin.url("/secret-name.jpg"))@png"
        for target in [path, path, path + "?a", path.replacing("resize", with: "sig=hidden-code/resize")] {
            _ = try await proxy.get(target)
        }

        proxy.daemon.send(signal: SIGTERM)
        _ = try await proxy.daemon.exitCode()

        #expect(proxy.daemon.log.contains("path=/img "))
        #expect(!proxy.daemon.log.contains("secret-name") && !proxy.daemon.log.contains("hidden-code"))
    }

    @Test("sign and translate know paths")
    func commands() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(Self.key, to: "key")
        let path = "/img/transform=resize:30x/https://example.org/cat.jpg@webp"

        let signed = try await OtherProgram.run(
            DaemonProcess.executable, "sign", "--key", folder.path + "/key", "https://proxy.example" + path)
        let wrong = try await OtherProgram.run(
            DaemonProcess.executable, ["sign", "--key", folder.path + "/key", path + "?a=b"])
        let refused = try await OtherProgram.run(
            DaemonProcess.executable,
            ["sign", "--key", folder.path + "/key", path.replacing("resize", with: "resiz")])
        let withoutDialect = try await OtherProgram.run(
            DaemonProcess.executable, ["translate", "/pictures/a.jpg"])
        let translated = try await OtherProgram.run(
            DaemonProcess.executable, "translate", "https://proxy.example" + path)

        #expect(signed == "https://proxy.example\(try PathForm.sign(path, with: Self.key))\n")
        #expect(wrong.code != 0 && wrong.output.isEmpty && wrong.errors.contains("%3F"))
        #expect(refused.code == 0 && refused.errors.contains("did you mean 'resize'?"))
        #expect(
            withoutDialect.code != 0 && withoutDialect.output.isEmpty
                && withoutDialect.errors.contains("--dialect"))
        #expect(translated == "/img?transform=resize:30x&format=webp&url=https://example.org/cat.jpg\n")
    }

    @Test("The daemon accepts the signed paths of the documentation, and sign makes them")
    func vectors() throws {
        let rows = TextFiles.read("docs/signing.md").matches(
            of: /\| `(\/img\/[^`]+)` \| `(\/img\?[^`]+)` \| `(\/img\/[^`]+)` \|/)
        #expect(rows.count == 2)
        let policy = SignaturePolicy(keys: [Self.key], isRequired: true)
        for row in rows {
            #expect(try PathForm.sign(String(row.1), with: Self.key) == String(row.3))
            #expect(try PathForm.query(of: Array(row.1.utf8)).elementsEqual(row.2.utf8))
            #expect(try policy.check(PathForm.query(of: Array(row.3.utf8))).isSigned)
        }
    }
}
