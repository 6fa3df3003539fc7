// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Loading
@testable import Origins
@testable import Primitives
@testable import URLs

@Suite("A connection with bytes after a response", .timeLimit(.minutes(20)))
struct TaintedConnectionTests {
    private static let smuggled =
        OriginAnswer.head(200, [("Content-Length", "4"), ("Cache-Control", "max-age=999")])
        + Array("evil".utf8)
    /// More than libcurl reads at once, so that the bytes after the response stay in the socket.
    private static let long = [UInt8](repeating: 7, count: 300_000)

    /// A response after which the connection can be reused; bytes without a request follow it.
    enum Bait: CaseIterable {
        case length, chunks, empty, missing, redirect, notModified

        var bytes: [UInt8] {
            switch self {
            case .length:
                OriginAnswer.head(200, [("Content-Length", "\(TaintedConnectionTests.long.count)")])
                    + TaintedConnectionTests.long
            case .chunks:
                OriginAnswer.head(200, [("Transfer-Encoding", "chunked")]) + Array("1\r\nA\r\n0\r\n\r\n".utf8)
            case .empty: OriginAnswer.head(200, [("Content-Length", "0")])
            case .missing: OriginAnswer.head(404, [("Content-Length", "0")])
            case .redirect: OriginAnswer.head(302, [("Content-Length", "0"), ("Location", "/next")])
            case .notModified: OriginAnswer.head(304, [("Content-Length", "0")])
            }
        }
    }

    /// When the further bytes are sent.
    enum Moment: CaseIterable {
        /// Together with the response.
        case together
        /// After it, before the next request.
        case behind
    }

    /// A redirect is followed at once: bytes after it may also arrive after the next request.
    private static let moments = Bait.allCases.flatMap { bait in Moment.allCases.map { (bait, $0) } }
        .filter { $0.0 != .redirect || $0.1 == .together }

    private static func load(_ path: String, _ fixture: LoaderFixture) async throws -> [UInt8] {
        let receiver = CollectingReceiver()
        var request = try fixture.request(path)
        request.ifNoneMatch = "\"a\""
        _ = try await fixture.loader.load(request, into: receiver)
        return receiver.bytes
    }

    @Test(
        "is not reused: each URL gets its own response (RFC 9112 §11.2)", arguments: moments)
    func doesNotMix(bait: Bait, moment: Moment) async throws {
        let fixture = try LoaderFixture()
        let gate = OriginGate()
        let answer =
            moment == .together
            ? OriginAnswer([.send(bait.bytes + Self.smuggled + Self.smuggled), .delivered])
            : OriginAnswer([.send(bait.bytes), .wait(gate), .send(Self.smuggled), .delivered])
        fixture.origin.route("/bait", answer)
        fixture.origin.route("/next", .body(Array("good".utf8)))

        // It may fail itself.
        let first = try? await Self.load("/bait", fixture)
        gate.open()
        await fixture.origin.wait { $0.completions["/bait"] == 1 || $0.closedConnections >= 1 }
        var bodies: [[UInt8]] = []
        for _ in 0..<3 { bodies.append(try await Self.load("/next", fixture)) }

        #expect(bodies == Array(repeating: Array("good".utf8), count: 3))
        if bait == .length { #expect(first == Self.long) }
        if bait == .redirect { #expect(first == Array("good".utf8)) }
    }

    @Test("is replaced by a new one, which is reused as usual if fetch.distrust is 0")
    func leaves() async throws {
        let fixture = try LoaderFixture { $0.distrust = .seconds(0) }
        fixture.origin.route("/bait", OriginAnswer([.send(Bait.length.bytes + Self.smuggled), .delivered]))
        fixture.origin.route("/next", .body([9]))

        try await fixture.load("/bait")
        await fixture.origin.wait { $0.completions["/bait"] == 1 }
        for _ in 0..<3 { try await fixture.load("/next") }
        await fixture.origin.wait { $0.closedConnections >= 1 }

        #expect(fixture.origin.log.connections == 2)
        #expect(fixture.origin.count("/next") == 3)
        #expect(fixture.loader.statistics.taintedConnections == 1)
        #expect(fixture.loader.statistics.reusedConnections == 2)
    }

    @Test("makes each further request to its origin use its own connection, for fetch.distrust")
    func distrusts() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.route("/bait", OriginAnswer([.send(Bait.length.bytes + Self.smuggled), .delivered]))
        fixture.origin.route("/next", .body([9]))

        try await fixture.load("/bait")
        await fixture.origin.wait { $0.completions["/bait"] == 1 }
        for _ in 0..<3 { try await fixture.load("/next") }
        await fixture.origin.wait { $0.closedConnections == 4 }

        #expect(fixture.origin.log.connections == 4)
        #expect(fixture.loader.statistics.taintedConnections == 1)
        #expect(fixture.loader.statistics.reusedConnections == 0)
    }

    @Test("is not used for longer than fetch.connectionLifetime in any case")
    func ages() async throws {
        let fixture = try LoaderFixture { $0.connectionLifetime = .seconds(1) }
        fixture.origin.route("/next", .body([9]))

        // A second has to pass: with requests, so that the connection does not end because it is idle.
        repeat { try await fixture.load("/next") } while fixture.origin.log.connections == 1

        #expect(fixture.loader.statistics.taintedConnections == 0)
    }

    @Test("is not reused over TLS, where the bytes may already have been read and decrypted")
    func secure() async throws {
        let origin = try TLSConversation()
        let loader = try LoaderFixture { $0.distrust = .seconds(0) }.loader
        let rule = try Self.rule(trusting: origin.certificate)
        let load: @Sendable (String, CollectingReceiver) async throws -> Void = { path, receiver in
            let request = try OriginRequest(url: SourceURL(parsing: origin.url(path)), rule: rule)
            _ = try await loader.load(request, into: receiver)
        }
        let next = OriginAnswer.head(200, [("Content-Length", "4")]) + Array("good".utf8)

        // libcurl reads no more of a body than its length: the end of the record stays in the TLS library.
        for rest in [1, 10_000] {
            let first = CollectingReceiver()
            async let bait: Void = load("/bait", first)
            try await origin.hear()
            try origin.send(OriginAnswer.head(200, [("Content-Length", "\(rest + 1)")]) + [7])
            await first.received.wait { $0.bytes.count == 1 }
            try origin.send([UInt8](repeating: 7, count: rest) + Self.smuggled)
            try await bait
            #expect(first.bytes == [UInt8](repeating: 7, count: rest + 1))

            for _ in 0..<2 {
                let receiver = CollectingReceiver()
                async let other: Void = load("/next", receiver)
                try await origin.hear()
                try origin.send(next)
                try await other
                #expect(receiver.bytes == Array("good".utf8))
            }
        }
        #expect(loader.statistics.taintedConnections == 2)
        #expect(loader.statistics.newConnections == 3)
    }

    @Test("that is cut over TLS completes no body; one closed by close_notify does (RFC 9112 §9.8)")
    func cut() async throws {
        let loader = try LoaderFixture().loader
        let whole = try TLSOrigin(file: "a.png", [7])
        let origin = try TLSConversation()
        let (received, receiver) = (CollectingReceiver(), CollectingReceiver())

        // Neither declares its length.
        _ = try await loader.load(
            OriginRequest(
                url: SourceURL(parsing: whole.url), rule: Self.rule(trusting: whole.certificate)),
            into: received)
        let request = try OriginRequest(
            url: SourceURL(parsing: origin.url("/a")), rule: Self.rule(trusting: origin.certificate))
        let loading = Task { try await loader.load(request, into: receiver) }
        try await origin.hear()
        try origin.send(OriginAnswer.head(200, [("Connection", "close")]) + [7])
        await receiver.received.wait { $0.bytes.count == 1 }
        origin.cut()

        #expect(received.bytes == [7])
        await expectFailure(.incomplete) { try await loading.value }
    }

    @Test("that ends in order while its body is being decoded completes it (RFC 9112 §9.8)")
    func decodedLater() async throws {
        let loader = try LoaderFixture().loader
        let content = [UInt8](repeating: 0, count: 6 << 20)
        let head = OriginAnswer.head(200, [("Connection", "close"), ("Content-Encoding", "gzip")])
        let origin = try TLSOrigin(file: "a.png", head + Packed.gzip(content), hasHead: true)
        let receiver = CollectingReceiver()

        _ = try await loader.load(
            OriginRequest(
                url: SourceURL(parsing: origin.url), rule: Self.rule(trusting: origin.certificate)),
            into: receiver)

        #expect(receiver.bytes == content)
    }

    private static func rule(trusting certificate: String) throws -> OriginRule {
        var configuration = OriginRuleConfiguration()
        configuration.match = ["*://*"]
        var tls = OriginRuleConfiguration.TLS()
        tls.ca = certificate
        configuration.tls = tls
        return try OriginRule(configuration, at: 0, secrets: SecretReader(credentialsDirectory: nil))
    }
}
