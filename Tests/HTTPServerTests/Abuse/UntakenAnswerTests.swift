// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import HTTPServer

@Suite("An answer that has left, and has not arrived")
struct UntakenAnswerTests {
    private static let large = [UInt8](repeating: 0x61, count: 512 << 10)

    private static func server(_ configuration: HTTPServer.Configuration) throws -> TestServer {
        try TestServer(configuration) { request in
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

    @Test("arrives whole when the server drains and the client asks for more (RFC 9112 §9.6)")
    func drain() async throws {
        var configuration = HTTPServer.Configuration.patient
        configuration.closeTimeout = .seconds(600)
        let server = try Self.server(configuration)
        let slow = try await Self.client(of: server)
        let idle = try server.networkClient()
        await server.counts { $0.connections == 2 }

        async let drained: Void = server.server.drain(within: .seconds(600))
        let body = try await onThread {
            // It is told after the other, that it came before.
            #expect(try idle.receiveAll().isEmpty)
            try slow.send(get("/more"))
            let body = try slow.answer().body
            #expect(try slow.receiveAll().isEmpty)
            slow.hangUp()
            idle.hangUp()
            return body
        }
        await drained

        #expect(body == Self.large)
    }

    @Test("keeps its connection from being idle")
    func idle() async throws {
        var configuration = HTTPServer.Configuration.patient
        configuration.idleTimeout = .milliseconds(50)
        let server = try Self.server(configuration)
        let slow = try await Self.client(of: server)

        let (body, more) = try await onThread {
            let idle = try server.networkClient()
            try idle.send(get("/"))
            _ = try idle.answer()
            // Its time is over, so that of the other is.
            #expect(try idle.receiveAll().isEmpty)
            idle.hangUp()
            try slow.send(get("/more"))
            let body = try slow.answer().body
            return (body, try slow.answer().text)
        }
        slow.hangUp()

        #expect(body == Self.large)
        #expect(more == "/more")
    }

    @Test("keeps its connection from being ended for another's sake, for a while")
    func eviction() async throws {
        var configuration = HTTPServer.Configuration.patient
        configuration.maxConnections = 1
        configuration.closeTimeout = .seconds(600)
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

    @Test("is still sent when its client was so slow that another one has got the place")
    func lateEviction() async throws {
        var configuration = HTTPServer.Configuration.patient
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
