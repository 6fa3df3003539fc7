// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Loading
@testable import Origins
@testable import Primitives
@testable import URLs

@Suite(
    "An origin that answers in a version of HTTP that its connection does not speak",
    .timeLimit(.minutes(20)))
struct ProtocolVersionTests {
    private static func answer(_ version: String, _ status: Int = 200, _ body: [UInt8] = []) -> [UInt8] {
        Array("\(version) \(status) OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
    }

    @Test("gets no request over a connection that waits for a response, and no URL gets another's response")
    func noPipelining() async throws {
        let fixture = try LoaderFixture { $0.firstByteTimeout = .minutes(5) }
        let gate = OriginGate()
        let red = Self.answer("HTTP/1.1", 200, Array("red".utf8))
        fixture.origin.route("/lie", OriginAnswer([.send(Self.answer("HTTP/2.0", 200, [1]))]))
        let paths = (0..<32).map { "/\($0)" }
        for path in paths { fixture.origin.route(path, .body(Array(path.utf8))) }
        for index in 0..<2 {
            // A further response is ready for a request that is sent after this one.
            fixture.origin.route("/stalled\(index)", OriginAnswer([.wait(gate), .send(red + red)]))
        }

        let stalled = (0..<2).map { index in Task { try await fixture.load("/stalled\(index)") } }
        for index in 0..<2 { await fixture.origin.waitForRequests("/stalled\(index)") }
        // It may succeed or fail.
        _ = try? await fixture.load("/lie")
        let bodies = await withTaskGroup { group in
            for path in paths {
                group.addTask {
                    let receiver = CollectingReceiver()
                    // The reason is dropped: a missing response is a failure, too.
                    _ = try? await fixture.load(path, into: receiver)
                    return (path, String(decoding: receiver.bytes, as: UTF8.self))
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        let held = Set(fixture.origin.log.requests.filter { $0.path.hasPrefix("/stalled") }.map(\.connection))
        let others = fixture.origin.log.requests.filter { !$0.path.hasPrefix("/stalled") }.map(\.connection)
        gate.open()
        for task in stalled { _ = try await task.value }

        #expect(bodies == Dictionary(uniqueKeysWithValues: paths.map { ($0, $0) }))
        #expect(held.count == 2)
        #expect(held.isDisjoint(with: others))
    }

    @Test(
        "is refused, as is a malformed status line (RFC 9112 §4)",
        arguments: [
            "HTTP/2.0", "HTTP/2", "HTTP/3", "HTTP/3.0", "HTTP/1.2", "HTTP/0.9", "http/1.1", "HTTP",
            " HTTP/1.1",
            "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/2.0", "HTTP/2.0 103 Early Hints\r\n\r\nHTTP/1.1",
            "HTTP/1.1 103 Early Hints\r\n\r\nHTTP",
        ])
    func refused(version: String) async throws {
        let fixture = try LoaderFixture { $0.retries = 0 }
        fixture.origin.route("/a", OriginAnswer([.send(Self.answer(version, 200, [1]))]))

        let error = await #expect(throws: LoadError.self) { try await fixture.load("/a") }
        await fixture.origin.wait { $0.closedConnections == 1 }

        #expect(error?.outcome == .incomplete || error?.outcome == .unreachable)
    }

    @Test("is accepted if it is HTTP/1.0 or HTTP/1.1", arguments: ["HTTP/1.0", "HTTP/1.1"])
    func accepted(version: String) async throws {
        let fixture = try LoaderFixture()
        fixture.origin.route("/a", OriginAnswer([.send(Self.answer(version, 200, [1]))]))
        let receiver = CollectingReceiver()

        try await fixture.load("/a", into: receiver)

        #expect(receiver.bytes == [1])
    }

    @Test(
        "over TLS without negotiated HTTP/2 is refused at the first such line, and no request follows"
    )
    func secure() async throws {
        let origin = try TLSConversation()
        let fixture = try LoaderFixture { $0.lowSpeedTime = .seconds(20) }
        let rule = try Self.rule(trusting: origin.certificate)
        let load: @Sendable (String, CollectingReceiver) async throws -> Void = { path, receiver in
            let request = try OriginRequest(url: SourceURL(parsing: origin.url(path)), rule: rule)
            _ = try await fixture.loader.load(request, into: receiver)
        }

        let first = Task { try await load("/first", CollectingReceiver()) }
        try await origin.hear()
        try origin.send(Array("HTTP/2.0 103 Early Hints\r\n\r\n".utf8))
        // Ends by itself; the next request could reuse the connection.
        await #expect(throws: LoadError.self) { try await first.value }
        let receiver = CollectingReceiver()
        async let second: Void = load("/second", receiver)
        try await origin.hear()
        try origin.send(Self.answer("HTTP/1.1", 200, Array("good".utf8)))
        try await second

        #expect(receiver.bytes == Array("good".utf8))
        #expect(fixture.loader.statistics.newConnections == 2)
    }

    @Test(
        "over TLS gets no request on a connection that waits for a response, whatever libcurl assumes"
    )
    func occupied() async throws {
        let origins = try (0..<3).map { _ in try TLSConversation() }
        let folder = try TemporaryDirectory()
        let certificates = try origins.flatMap { try $0.certificateBytes() }
        try folder.write(certificates, to: "ca.pem")
        let relay = try PortRelay(to: origins.map(\.port))
        let fixture = try LoaderFixture { $0.lowSpeedTime = .seconds(20) }
        let rule = try Self.rule(trusting: folder.path + "/ca.pem")
        let load: @Sendable (String) async throws -> [UInt8] = { path in
            let receiver = CollectingReceiver()
            let url = try SourceURL(parsing: "https://127.0.0.1:\(relay.port)\(path)")
            _ = try await fixture.loader.load(OriginRequest(url: url, rule: rule), into: receiver)
            return receiver.bytes
        }

        let waiting = Task { try await load("/red") }
        try await origins[0].hear()
        let lie = Task { try await load("/lie") }
        try await origins[1].hear()
        // From here on libcurl assumes that the host's connections carry concurrent requests.
        try origins[1].send(Self.answer("HTTP/2.0", 200, [1]))
        await #expect(throws: LoadError.self) { try await lie.value }
        let other = Task { try await load("/blue") }
        try await origins[2].hear()
        try origins[2].send(Self.answer("HTTP/1.1", 200, Array("blue".utf8)))
        let blue = try await other.value
        try origins[0].send(Self.answer("HTTP/1.1", 200, Array("red".utf8)))

        #expect(blue == Array("blue".utf8))
        #expect(try await waiting.value == Array("red".utf8))
        #expect(fixture.loader.statistics.taintedConnections == 0)
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
