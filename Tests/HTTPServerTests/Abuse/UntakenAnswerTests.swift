// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import HTTPServer

@Suite("Answers in the kernel's send buffer")
struct UntakenAnswerTests {
    private static let large = [UInt8](repeating: 0x61, count: 512 << 10)

    private static func server(
        _ configuration: HTTPServer.Configuration, by time: ManualTime? = nil
    ) throws -> TestServer {
        try TestServer(configuration, by: time) { request in
            guard request.target == "/large" else { return .now(text(request.target)) }
            var response = HTTPResponse(status: .ok)
            response.body = .bytes(large)
            return .now(response)
        }
    }

    /// A client that has not read its answer yet, all of which the kernel has taken.
    private static func client(of server: TestServer) async throws -> RawHTTPClient {
        let client = try server.networkClient()
        try client.send(get("/large"))
        _ = await server.exchanges.wait { !$0.isEmpty }
        return client
    }

    @Test(
        "An answer in the send buffer arrives whole when the server drains and the client sends more (RFC 9112 §9.6)"
    )
    func drain() async throws {
        var configuration = HTTPServer.Configuration.longTimeouts
        configuration.closeTimeout = .seconds(86_400)
        let time = ManualTime()
        let server = try Self.server(configuration, by: time)
        let slow = try await Self.client(of: server)
        let idle = try server.networkClient()
        await server.counts { $0.connections == 2 }

        try await server.drain {
            time.advance(by: configuration.drainGrace)
            try await onThread {
                // Informed after the other client, although it came before.
                #expect(try idle.receiveAll().isEmpty)
                try slow.send(get("/more"))
                #expect(try slow.answer().body == Self.large)
                #expect(try slow.receiveAll().isEmpty)
                slow.hangUp()
                idle.hangUp()
            }
        }
    }

    @Test("A connection with an answer in the send buffer is not closed for another one until a timeout")
    func eviction() async throws {
        var configuration = HTTPServer.Configuration.longTimeouts
        configuration.maxConnections = 1
        configuration.closeTimeout = .seconds(86_400)
        let server = try Self.server(configuration)
        let slow = try await Self.client(of: server)

        let (refused, body) = try await onThread {
            let other = try server.client()
            try other.send(get("/"))
            let refused = try other.answer().status
            other.hangUp()
            return (refused, try slow.answer().body)
        }
        slow.hangUp()

        #expect(refused == 503)
        #expect(body == Self.large)
        #expect(server.rejections(.evicted) == 0)
    }

    enum Ending: CaseIterable {
        case kept, lastAnswer, halfClosed
    }

    @Test(
        "An answer of which the client reads nothing is discarded with its connection: the kernel keeps nothing for it",
        arguments: Ending.allCases)
    func reset(ending: Ending) async throws {
        let time = ManualTime()
        let server = try TestServer(by: time) { _ in
            var response = HTTPResponse(status: .ok)
            response.body = .bytes(Self.large)
            response.closesConnection = ending == .lastAnswer
            return .now(response)
        }
        let client = try server.networkClient()
        try client.send(get("/"))
        if ending == .halfClosed { client.finishSending() }
        // All of it is in the kernel, or else the test proves nothing.
        let exchange = try #require(await server.exchanges.wait { !$0.isEmpty }.first)
        #expect(!exchange.wasCut)
        await server.emptiness(after: time)

        #expect(server.server.counts.rejected == [.writeTimeout: 1])
        let end = try await onThread {
            do {
                while true { _ = try client.bytes(65_536) }
            } catch let failure as RawHTTPClient.Failure {
                return failure.description
            }
        }
        #expect(end == "the connection ended (-1, \(ECONNRESET))")
        client.hangUp()
    }

    @Test("A half-closed connection stays open until the answer in its send buffer has arrived")
    func halfClosed() async throws {
        let server = try Self.server(.longTimeouts)
        let client = try await Self.client(of: server)
        client.finishSending()

        let (isKept, body) = try await onThread {
            // The loop has seen the end: it answers another client.
            let other = try server.networkClient()
            try other.send(get("/"))
            _ = try other.answer()
            other.hangUp()
            return (server.server.counts.connections > 0, try client.answer().body)
        }
        await server.emptiness()
        client.hangUp()

        #expect(isKept)
        #expect(body == Self.large)
        #expect(server.server.counts.rejected.isEmpty)
    }

    @Test(
        "An answer in the send buffer is still sent when the client was so slow that another one got its place"
    )
    func lateEviction() async throws {
        var configuration = HTTPServer.Configuration.longTimeouts
        configuration.maxConnections = 1
        configuration.closeTimeout = .zero
        let server = try Self.server(configuration)
        let slow = try await Self.client(of: server)

        let (other, body) = try await onThread {
            let client = try server.client()
            try client.send(get("/"))
            let answer = try client.answer()
            client.hangUp()
            return (answer, try slow.answer().body)
        }
        slow.hangUp()

        #expect(other.status == 200)
        #expect(server.rejections(.evicted) == 1)
        #expect(body == Self.large)
    }
}
