// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import Answering
@testable import ImageProxyd
@testable import Request

@Suite("Signed URLs")
struct SigningTests {
    private static let key = Array("imageproxyd-test-key-1".utf8)

    private func proxy(_ security: String = "") async throws -> Proxy {
        let folder = try TemporaryDirectory()
        try folder.write(Self.key + [10], to: "key")
        try folder.write(Array("hex:000102030405060708090a0b0c0d0e0ff0f1ff\n".utf8), to: "key2")
        let keys = "\"keys\": [\"\(folder.path)/key2\", \"\(folder.path)/key\"]"
        return try await Proxy(security: keys + security, in: folder)
    }

    @Test("With keys, only URLs signed with one of them are answered")
    func required() async throws {
        let proxy = try await proxy()
        proxy.origin.route("/a.jpg", .body(Fixtures.photo))
        let target = proxy.target("/a.jpg", "transform=resize:30x20&format=png")
        let signed = SignaturePolicy.sign(target, with: Self.key)

        let without = try await proxy.get(target)
        let wrong = try await proxy.get(SignaturePolicy.sign(target, with: Array("another key of mine".utf8)))
        let moved = try await proxy.get(signed.replacing("30x20", with: "30x21"))
        let behind = try await proxy.get(signed + "&quality=1")
        let before = try await proxy.get(target.replacing("?", with: "?sig=abc&"))
        let first = try await proxy.get(signed)
        let second = try await proxy.get(signed)

        #expect(without.status == 403 && without.code == "signature_required")
        #expect(wrong.status == 403 && wrong.code == "signature_mismatch")
        #expect(moved.status == 403 && moved.code == "signature_mismatch")
        #expect(moved.text.contains("path and query as they are sent"), "\(moved.text)")
        #expect(behind.status == 400 && behind.code == "invalid_parameter")
        #expect(before.status == 400 && before.code == "invalid_parameter")
        #expect(first.pngSize == [30, 20])
        #expect(second["Cache-Status"]?.hasSuffix("detail=memory") == true)
        #expect(try await proxy.get("/healthz").status == 200)
    }

    @Test("An absolute-form target is signed as path and query (RFC 9112 §3.2.2)")
    func absoluteForm() async throws {
        let proxy = try await proxy()
        proxy.origin.route("/a.jpg", .body(Fixtures.photo))
        let signed = SignaturePolicy.sign(proxy.target("/a.jpg"), with: Self.key)

        #expect(try await proxy.get("http://proxy.example" + signed).status == 200)
    }

    @Test("Where signatures are optional, they permit the options that skip a cache")
    func privileged() async throws {
        let proxy = try await proxy(", \"requireSignature\": false")
        proxy.origin.route(
            "/a.jpg",
            OriginAnswer.validated(
                Fixtures.photo, entityTag: "\"v1\"", fields: [("Cache-Control", "max-age=600")]))
        let target = proxy.target("/a.jpg", "options=refresh-cached")
        _ = try await proxy.get(proxy.target("/a.jpg"))

        let unsigned = try await proxy.get(target)
        let signed = try await proxy.get(SignaturePolicy.sign(target, with: Self.key))
        let harmless = try await proxy.get(proxy.target("/a.jpg", "options=from-cache-only,wait-store"))
        let misplaced = try await proxy.get(proxy.target("/a.jpg", "sig=abc&quality=1"))

        #expect(unsigned.status == 403 && unsigned.code == "option_forbidden")
        #expect(signed["Cache-Status"]?.hasPrefix("imageproxyd; fwd=request; fwd-status=304") == true)
        #expect(harmless.status == 200)
        #expect(misplaced.status == 400 && misplaced.code == "invalid_parameter")
    }

    @Test("Without keys, a signature is refused")
    func noKeys() async throws {
        let proxy = try await Proxy()

        let answer = try await proxy.get(SignaturePolicy.sign(proxy.target("/a.jpg"), with: Self.key))

        #expect(answer.status == 403 && answer.code == "signature_mismatch")
    }

    @Test("An expired URL is 410, also if its picture is in memory", arguments: [true, false])
    func expiry(isWarm: Bool) async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.jpg", .body(Fixtures.photo))
        let soon = Int(Date().timeIntervalSince1970) + (isWarm ? 2 : -1)
        let target = proxy.target("/a.jpg", "transform=resize:30x20&format=png&expires=\(soon)")

        if isWarm { #expect(try await proxy.get(target).status == 200) }
        let answer = try await proxy.firstAnswer(to: target, with: 410)

        #expect(answer.code == "url_expired")
        #expect(answer["Cache-Control"] == "no-store")
    }

    @Test("sign prints what the daemon accepts, and the published vectors")
    func command() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(Self.key + [10], to: "key")
        let path = "/img?url=https%3A%2F%2Fexample.org%2Fcat.jpg"

        let signed = try await OtherProgram.run(
            DaemonProcess.executable, "sign", "--key", folder.path + "/key", "https://proxy.example" + path)

        #expect(
            signed == "https://proxy.example\(path)&sig=MkuK68NB9cNIV1k601EycY_iKeU7YgvSb0hoY1uzM9w\n")
    }

    @Test(
        "Every language of the documentation makes every published signature",
        arguments: [
            ("sh", "sh"), ("python3", "py"), ("node", "js"), ("php", "php"), ("ruby", "rb"), ("perl", "pl"),
            ("go", "go"),
        ])
    func languages(interpreter: String, suffix: String) async throws {
        guard let program = OtherProgram.path(of: interpreter) else {
            try Test.cancel("\(interpreter) is not installed: docs/signing/sign.\(suffix) is not tested")
        }
        let vectors = TextFiles.read("docs/signing.md").matches(
            of: /\| `([^`\/][^`]*)`[^|]* \| `([^`]+)` \| `([^`]+)` \|/)
        #expect(vectors.count == 5)

        for vector in vectors {
            let signed = try await sign(String(vector.2), key: "\(vector.1)\n", by: program, suffix)
            #expect(signed.output == "\(vector.2)&sig=\(vector.3)\n", "\(vector.1): \(signed.errors)")
        }
        for key in ["hex:000102030405060708090a0b0c0d0e0", "base64:!!!!!!!!!!!!!!!!!!!!!!!!", "short"] {
            let refused = try await sign("/img?url=a", key: key, by: program, suffix)
            #expect(refused.code != 0 && refused.output.isEmpty, "\(key)")
        }
        let twice = try await sign("/img?url=b&sig=c", key: "0123456789abcdef", by: program, suffix)
        #expect(twice.code != 0 && twice.output.isEmpty)
        let whole = try await sign("https://a/img?url=b", key: "0123456789abcdef", by: program, suffix)
        #expect(whole.code != 0 && whole.output.isEmpty && whole.errors.contains("path and query"))
    }

    private func sign(
        _ target: String, key: String, by program: String, _ suffix: String
    ) async throws -> OtherProgram.Outcome {
        let folder = try TemporaryDirectory()
        try folder.write(Array(key.utf8), to: "key")
        let script = TextFiles.path("docs/signing/sign.\(suffix)")
        return try await OtherProgram.run(
            program, (suffix == "go" ? ["run"] : []) + [script, folder.path + "/key", target],
            environment: ["PATH": "/usr/bin:/bin", "HOME": folder.path, "GOFLAGS": "-mod=mod"])
    }

    @Test("The daemon reads the key of every published vector, and accepts its signature")
    func vectors() throws {
        let vectors = TextFiles.read("docs/signing.md").matches(
            of: /\| `([^`\/][^`]*)`[^|]* \| `([^`]+)` \| `([^`]+)` \|/)
        for vector in vectors {
            let key = try #require(KeyText.decode(Array(vector.1.utf8)))
            let policy = SignaturePolicy(keys: [key], isRequired: true)
            #expect(try policy.check(Array("\(vector.2)&sig=\(vector.3)".utf8)).isSigned)
        }
    }

    @Test(
        "sign warns of a target that the daemon would refuse, and signs it all the same",
        arguments: [
            ("/img?url=http%3A%2F%2Fa%2Fb.jpg", nil), ("/info?url=http%3A%2F%2Fa%2Fb.jpg", nil),
            ("/img?url=http://a/b?c=1&d=2", "'d' is no parameter"),
            ("/img?url=http%3A%2F%2Fa%2Fb.jpg&transform=blr", "did you mean 'blur'?"),
            ("/cat.jpg?url=http%3A%2F%2Fa%2Fb.jpg", "what can be signed is at /img"),
            ("/img?url=http%3A%2F%2Fa%2Fbä", "position 27: this character must be percent-encoded"),
            ("/img?url=http%3A%2F%2Fa%2Fb.jpg&expires=1", "the time of its parameter 'expires' has passed"),
            ("/info?url=http%3A%2F%2Fa%2Fb.jpg&expires=1", "the time of its parameter 'expires' has passed"),
        ])
    func checkedTargets(target: String, warning: String?) async throws {
        let folder = try TemporaryDirectory()
        try folder.write(Self.key, to: "key")

        let outcome = try await OtherProgram.run(
            DaemonProcess.executable, ["sign", "--key", folder.path + "/key", target])

        #expect(outcome.code == 0)
        #expect(outcome.output == SignaturePolicy.sign(target, with: Self.key) + "\n")
        if let warning {
            #expect(
                outcome.errors.hasPrefix(
                    "warning: with these settings (no --config) the daemon would refuse this: "))
            #expect(outcome.errors.contains(warning), "\(outcome.errors)")
        } else {
            #expect(outcome.errors.isEmpty, "\(outcome.errors)")
        }
    }

    @Test(
        "sign signs a target without a source, which is one for uploads, and notes that",
        arguments: [
            ("/img?transform=flip:h", "note: without 'url'"), ("/info", "note: without 'url'"),
            ("/info?", "note: without 'url'"), ("/img", "note: without 'url'"),
            ("/img?transform=blr", "did you mean 'blur'?"),
        ])
    func uploads(target: String, remark: String) async throws {
        let folder = try TemporaryDirectory()
        try folder.write(Self.key, to: "key")

        let outcome = try await OtherProgram.run(
            DaemonProcess.executable, ["sign", "--key", folder.path + "/key", target])

        let query = target.contains("?") ? target : target + "?"
        #expect(outcome.output == SignaturePolicy.sign(query, with: Self.key) + "\n")
        #expect(outcome.errors.contains(remark), "\(outcome.errors)")
    }

    @Test("A signed target without parameters takes a body")
    func bareTarget() async throws {
        let proxy = try await proxy()

        let answer = try await proxy.send(
            Fixtures.photo, to: SignaturePolicy.sign("/info?", with: Self.key))

        #expect(answer.status == 200 && answer.text.contains("\"width\": 1200"), "\(answer.text)")
    }

    @Test(
        "sign names what is wrong with a target or a key",
        arguments: [
            ("0123456789abcdef", "/img?url=a#b", "has a fragment"),
            ("0123456789abcdef", "/img?url=a&sig=b", "has a signature already"),
            ("0123456789abcdef", "/img/sig=b/http://a", "there is one already"),
            ("hex:00112233445566778899aabbccddeeff\r\n", "/img?url=a", "the line ends in CR LF"),
            ("hex:00112233445566778899aabbccddeefg", "/img?url=a", "is no hexadecimal digit"),
            ("hex:00112233445566778899aabbccddeef", "/img?url=a", "odd number"),
            ("base64:!!!!!!!!!!!!!!!!!!!!!!!!", "/img?url=a", "is not base64"),
        ])
    func refusals(key: String, target: String, problem: String) async throws {
        let folder = try TemporaryDirectory()
        try folder.write(Array(key.utf8), to: "key")

        let outcome = try await OtherProgram.run(
            DaemonProcess.executable, ["sign", "--key", folder.path + "/key", target])

        #expect(outcome.code != 0 && outcome.output.isEmpty)
        #expect(outcome.errors.contains(problem), "\(outcome.errors)")
        #expect(!outcome.errors.contains(" or a "), "\(outcome.errors)")
    }

    @Test("A key that is too short, missing or misspelt stops the start, named by its place in the settings")
    func badKeys() throws {
        let folder = try TemporaryDirectory()
        try folder.write(Array("short\n".utf8), to: "short")
        try folder.write(Array("hex:00112233445566778899aabbccddeefg".utf8), to: "wrong")
        var configuration = ProxyConfiguration()
        configuration.security.keys =
            ["short", "wrong", "absent"].map { folder.path + "/" + $0 } + ["credential:a"]

        let error = #expect(throws: ConfigurationError.self) {
            try NamedFiles(configuration, environment: [:])
        }

        let paths = error?.issues.map(\.path)
        #expect(paths == (0..<4).map { "security.keys.\($0)" })
        #expect(error?.issues[2].problem.hasSuffix("No such file or directory") == true)
    }
}
