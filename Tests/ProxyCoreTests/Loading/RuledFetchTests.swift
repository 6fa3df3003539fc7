// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Freshness
@testable import Loading
@testable import Origins
@testable import Primitives
@testable import URLs

@Suite("A fetch by an origin rule")
struct RuledFetchTests {
    @Test("sends the rule's fields to its origin, and to none after a redirect, even back to it")
    func credentials() async throws {
        let fixture = try LoaderFixture()
        let folder = try TemporaryDirectory()
        try folder.write(Array("s3cret\n".utf8), to: "password")
        let other = try FakeOrigin()
        fixture.origin.route("/a", .redirect(to: "/b"))
        fixture.origin.route("/b", .redirect(to: other.url("/c")))
        other.route("/c", .redirect(to: fixture.origin.url("/d")))
        fixture.origin.route("/d", .body([1]))

        try await fixture.load("/a") {
            $0.auth = .basic(user: "ann", password: .file(folder.path + "/password"))
            $0.requestHeaders = ["X-Team": .literal("pictures"), "Accept": .literal("image/webp")]
        }

        let asked = fixture.origin.log.requests
        #expect(asked.map(\.path) == ["/a", "/b", "/d"])
        #expect(
            asked.map { $0["authorization"] } == ["Basic YW5uOnMzY3JldA==", "Basic YW5uOnMzY3JldA==", nil])
        #expect(asked.map { $0["x-team"] } == ["pictures", "pictures", nil])
        #expect(asked.map { $0["accept"] } == ["image/webp", "image/webp", "image/*,*/*;q=0.5"])
        #expect(other.log.requests.map { $0["authorization"] } == [nil])
        #expect(other.log.requests.map { $0["x-team"] } == [nil])
    }

    @Test("accepts the statuses and media types that the rule names")
    func acceptance() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.route("/404", .body([1], type: "image/png; a=b", status: 404))
        fixture.origin.route("/200", .body([1], type: "text/html"))

        try await fixture.load("/404") { $0.acceptStatus = [200, 404] }
        await #expect(throws: LoadError.status(404, retryAfter: nil)) {
            try await fixture.load("/404") { _ in }
        }
        await #expect(throws: LoadError.status(404, retryAfter: nil)) {
            try await fixture.load("/404") { $0.acceptStatus = [203] }
        }
        try await fixture.load("/404") {
            $0.acceptStatus = [404]
            $0.responseContentType = ["image/*"]
        }
        await #expect(throws: LoadError.notAnImage("")) {
            try await fixture.load("/200") {
                $0.responseContentType = ["image/*", "application/octet-stream"]
            }
        }
    }

    @Test("decodes base64 in any pieces, and fails for a malformed text")
    func base64() async throws {
        let fixture = try LoaderFixture()
        let picture = (0..<5_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        let text = Array(Base64.encode(picture).utf8)
        fixture.origin.route(
            "/a", .chunked([Array(text[..<1_001]), Array(text[1_001..<1_003]), Array(text[1_003...])]))
        fixture.origin.route("/b", .body(Array("no base64!".utf8)))
        fixture.origin.route("/c", .body(Array(text[..<5])))
        let receiver = CollectingReceiver()

        try await fixture.load("/a", into: receiver) { $0.decode = .base64 }

        #expect(receiver.bytes == picture)
        await expectFailure(.incomplete) { try await fixture.load("/b") { $0.decode = .base64 } }
        await expectFailure(.incomplete) { try await fixture.load("/c") { $0.decode = .base64 } }
    }

    @Test("may be redirected to the target of the rule's rewrite, which is no allowed source")
    func rewrittenRedirect() async throws {
        let fixture = try LoaderFixture(redirectPolicy: { _ in false })
        fixture.origin.route("/b/a", .redirect(to: "/b/c"))
        fixture.origin.route("/b/c", .body([1]))
        fixture.origin.route("/b/out", .redirect(to: "/secret"))
        let to = fixture.origin.url("/b/")
        let rewriting: (inout OriginRuleConfiguration) -> Void = {
            $0.rewrite = .init(from: "https://public.example/", to: to)
        }

        try await fixture.load("/b/a", by: rewriting)

        await expectFailure(.redirectForbidden) { try await fixture.load("/b/out", by: rewriting) }
    }

    @Test("trusts the rule's certificates, or any if it says so, only for its origin")
    func certificates() async throws {
        let fixture = try LoaderFixture()
        let secure = try TLSOrigin(file: "a.png", [1, 2, 3])
        let other = try TLSOrigin(file: "a.png", [1, 2, 3])
        fixture.origin.route("/away", .redirect(to: other.url))

        await expectFailure(.tlsFailed) { try await fixture.load(absolute: secure.url) { _ in } }
        try await fixture.load(absolute: secure.url) { $0.tls = tls(insecure: true) }
        try await fixture.load(absolute: secure.url) { $0.tls = tls(ca: secure.certificate) }
        await expectFailure(.tlsFailed) {
            try await fixture.load(absolute: other.url) { $0.tls = tls(ca: secure.certificate) }
        }
        // No state remains for the next fetch, neither in the handle nor in the connection.
        await expectFailure(.tlsFailed) { try await fixture.load(absolute: secure.url) { _ in } }
        await expectFailure(.tlsFailed) {
            try await fixture.load(fixture.origin.url("/away"), absolutely: true) {
                $0.tls = tls(insecure: true)
            }
        }
    }

    @Test("verifies a redirect's target as the rule of that says, and sends it nothing else of that rule")
    func certificatesOfTarget() async throws {
        let fixture = try LoaderFixture()
        let secure = try TLSOrigin(file: "a.png", [1, 2, 3])
        let other = try FakeOrigin()
        fixture.origin.route("/secure", .redirect(to: secure.url))
        fixture.origin.route("/other", .redirect(to: other.url("/a.png")))
        other.route("/a.png", .body([1]))
        var trusting = OriginRuleConfiguration()
        (trusting.match, trusting.tls) = ([secure.url], tls(ca: secure.certificate))
        var naming = OriginRuleConfiguration()
        (naming.match, naming.requestHeaders) = ([other.url("/*")], ["X-Team": .literal("pictures")])
        let rules = try OriginRules([trusting, naming], secrets: .checking)

        for path in ["/secure", "/other"] {
            var request = try fixture.request(path)
            request.rules = rules
            let receiver = CollectingReceiver()
            _ = try await fixture.loader.load(request, into: receiver)
            #expect(receiver.head?.status == 200)
        }

        #expect(other.log.requests.map { $0["x-team"] } == [nil])
    }

    @Test("takes part in no key exchange over a large group, which would keep all fetches waiting")
    func keyExchanges() async throws {
        let fixture = try LoaderFixture()
        let small = try TLSOrigin(file: "a.png", [1, 2, 3], options: ["-groups", "P-384"])
        let large = try TLSOrigin(file: "a.png", [1, 2, 3], options: ["-groups", "ffdhe8192"])

        try await fixture.load(absolute: small.url) { $0.tls = tls(insecure: true) }
        await expectFailure(.tlsFailed) {
            try await fixture.load(absolute: large.url) { $0.tls = tls(insecure: true) }
        }
    }

    /// Stores the order of a loader's calls, and runs a closure after the first bytes.
    private final class Listener: OriginReceiving {
        enum Event: Equatable {
            case head, bytes(Int), didDrain
        }

        private let heard = Mutex<[Event]>([])
        private let afterFirstBytes: @Sendable () throws -> Void

        init(afterFirstBytes: @escaping @Sendable () throws -> Void = {}) {
            self.afterFirstBytes = afterFirstBytes
        }

        var events: [Event] { heard.withLock { $0 } }

        func receive(head: OriginHead) throws(LoadError) { heard.withLock { $0.append(.head) } }

        func receive(bytes: UnsafeRawBufferPointer) throws(LoadError) {
            let isFirst = heard.withLock { heard in
                heard.append(.bytes(bytes.count))
                return heard.count == 2
            }
            guard isFirst else { return }
            do { try afterFirstBytes() } catch { throw .storage("\(error)") }
        }

        func didDrain() { heard.withLock { $0.append(.didDrain) } }
    }

    @Test("streams a file's bytes while it is read")
    func streamedFile() async throws {
        let folder = try TemporaryDirectory()
        try folder.write([UInt8](repeating: 7, count: 600_000), to: "a.png")
        let listener = Listener()

        _ = try await FileLoader(maxBytes: .mebibytes(1)).load(fileRequest(folder, "a.png"), into: listener)

        #expect(
            listener.events == [
                .head, .bytes(262_144), .didDrain, .bytes(262_144), .didDrain, .bytes(75_712), .didDrain,
            ])
    }

    @Test(
        "fails for a file that is written to while it is read, whatever its length then",
        arguments: [600_000, 600_001, 10])
    func tornFile(length: Int) async throws {
        let folder = try TemporaryDirectory()
        try folder.write([UInt8](repeating: 7, count: 600_000), to: "a.png")
        var past = [timeval(tv_sec: 1_000_000, tv_usec: 0), timeval(tv_sec: 1_000_000, tv_usec: 0)]
        utimes(folder.path + "/a.png", &past)
        let listener = Listener { try folder.write([UInt8](repeating: 8, count: length), to: "a.png") }

        await #expect(throws: LoadError.self) {
            try await FileLoader(maxBytes: .mebibytes(1)).load(fileRequest(folder, "a.png"), into: listener)
        }
    }

    private func fileRequest(_ folder: TemporaryDirectory, _ name: String) throws -> OriginRequest {
        let rule = try LoaderFixture.rule {
            $0.loader = .file
            $0.root = folder.path
        }
        return OriginRequest(url: try SourceURL(parsing: "https://assets.example/\(name)"), rule: rule)
    }

    @Test("finds files below the rule's root, and no others, in any spelling")
    func files() async throws {
        let folder = try TemporaryDirectory()
        try folder.write([1, 2, 3], to: "root/a b/c.png")
        try folder.write([4], to: "secret.png")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/root/link.png", withDestinationPath: "../secret.png")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/root/inner.png", withDestinationPath: "a b/c.png")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/root/up", withDestinationPath: "..")
        mkfifo(folder.path + "/root/pipe.png", 0o600)
        let loader = FileLoader(maxBytes: ByteCount(3))
        let rule = try LoaderFixture.rule {
            $0.loader = .file
            $0.root = folder.path + "/root"
        }
        func load(_ path: String, _ change: (inout OriginRequest) -> Void = { _ in }) async throws
            -> CollectingReceiver
        {
            let receiver = CollectingReceiver()
            var request = OriginRequest(
                url: try SourceURL(parsing: "https://assets.example" + path), rule: rule)
            change(&request)
            _ = try await loader.load(request, into: receiver)
            return receiver
        }

        let found = try await load("/a%20b/c.png?v=1")

        #expect(found.bytes == [1, 2, 3])
        let tag = try #require(found.head?.values(of: "etag").first)
        #expect(try await load("/a%20b/c.png") { $0.ifNoneMatch = tag }.head?.status == 304)
        for path in [
            "/../secret.png", "/..%2fsecret.png", "/%2e%2e/secret.png", "/%2e%2e%2fsecret.png",
            "/a%20b/..%2f..%2f..%2fsecret.png",
            "/link.png", "/inner.png", "/up/secret.png", "/pipe.png", "/a%20b", "/a%20b/", "/",
            "//a%20b/c.png",
            "/a%20b%2fc.png", "/a%20b/c.png%00", "/a%20b/c.png%zz", "/%2fetc/passwd", "/proc/self/environ",
            "/a%2520b/c.png", "/..%5csecret.png", "/%c0%ae%c0%ae/secret.png",
        ] {
            let error = await #expect(throws: LoadError.self, "\(path)") { try await load(path) }
            #expect(error.map { "\($0)".hasPrefix("noFile(") } == true, "\(path)")
        }
        for (path, reason) in [
            ("/none.png", "no such file"), ("/up/secret.png", "symbolic link"), ("/a%20b", "folder"),
            ("/pipe.png", "no regular file"), ("/a//b", "empty or dot segment"),
        ] {
            let error = await #expect(throws: LoadError.self) { try await load(path) }
            #expect("\(try #require(error))".contains(reason), "\(path)")
        }
        try folder.write([1, 2, 3, 4], to: "root/big.png")
        await #expect(throws: LoadError.tooLarge) { try await load("/big.png") }
    }
}

private func tls(insecure: Bool = false, ca: String? = nil) -> OriginRuleConfiguration.TLS {
    var tls = OriginRuleConfiguration.TLS()
    (tls.insecure, tls.ca) = (insecure, ca)
    return tls
}
