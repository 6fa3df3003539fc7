// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import TestSupport
import Testing

@testable import HTTPServer

@Suite("Connection limits")
struct PlaceTests {
    /// Requests that are answered once the gate is opened.
    private final class Slow: Sendable {
        let gate = Gate()
        private let begun = Observed(0)

        func answer() -> HTTPAnswer {
            .later(context: 0) { [self] in
                begun.update { $0 += 1 }
                await gate.passage()
                return text("done")
            }
        }

        /// Clients that wait for such an answer.
        func clients(_ count: Int, at server: TestServer) async throws -> [RawHTTPClient] {
            let clients = try (0..<count).map { _ in try server.client() }
            for client in clients { try client.send(get("/slow")) }
            _ = await begun.wait { $0 >= count }
            return clients
        }
    }

    private static func server(
        _ configuration: HTTPServer.Configuration, _ slow: Slow
    ) throws -> TestServer {
        try TestServer(configuration) { $0.target == "/slow" ? slow.answer() : .now(text($0.target)) }
    }

    @Test(
        "At the limit, connections that have their last answer and do not close are closed in favour of new ones",
        arguments: ["GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "x\r\n\r\n"])
    func lingering(request: String) async throws {
        var configuration = HTTPServer.Configuration.longTimeouts
        configuration.loops = 1
        configuration.maxConnections = 4
        configuration.closeTimeout = .seconds(86_400)
        let server = try TestServer(configuration) { .now(text($0.target)) }
        try await onThread {
            let clients = try (0..<4).map { _ in try server.client() }
            for client in clients {
                try client.send(request)
                _ = try client.answer()
                #expect(try client.receiveAll().isEmpty)
            }
            let late = try server.client()
            try late.send(get("/late"))
            #expect(try late.answer().status == 200)
            (clients + [late]).forEach { $0.hangUp() }
        }
        #expect(server.server.counts.rejected[.evicted] == nil)
    }

    @Test(
        "At the limit, an idle connection on another loop, or among many busy ones, is closed in favour of a new one"
    )
    func idleElsewhere() async throws {
        var configuration = HTTPServer.Configuration.longTimeouts
        configuration.loops = 2
        configuration.maxConnections = 101
        configuration.reservedConnections = 2
        let slow = Slow()
        let server = try Self.server(configuration, slow)
        let idle = try server.client()
        let busy = try await slow.clients(100, at: server)

        let answers = try await onThread {
            // Each replaces the one before, on whichever loop that is.
            let clients = try (0..<20).map { _ in
                let client = try server.client()
                try client.send(get("/"))
                return (client, try client.answer())
            }
            clients.forEach { $0.0.hangUp() }
            return clients.map(\.1)
        }
        slow.gate.open()
        (busy + [idle]).forEach { $0.hangUp() }

        #expect(answers.allSatisfy { $0.status == 200 && $0["Connection"] == nil })
        #expect(server.rejections(.overload) == 0)
    }

    @Test("Ordinary connections are accepted although refused ones linger")
    func lingering() async throws {
        var configuration = HTTPServer.Configuration.longTimeouts
        configuration.maxConnections = 2
        configuration.reservedConnections = 2
        configuration.closeTimeout = .seconds(86_400)
        let slow = Slow()
        let server = try Self.server(configuration, slow)
        let busy = try await slow.clients(2, at: server)

        let refused = try await onThread {
            try (0..<2).map { _ in
                let client = try server.client()
                try client.send(get("/"))
                #expect(try client.answer().status == 503)
                return client
            }
        }
        slow.gate.open()
        busy.forEach { $0.hangUp() }
        await server.counts { $0.connections == 2 }
        let answer = try await onThread {
            let client = try server.client()
            try client.send(get("/"))
            return try client.answer()
        }
        refused.forEach { $0.hangUp() }

        #expect(answer.status == 200)
        #expect(answer["Connection"] == nil)
    }

    @Test("A reserved connection is free again after its client had to wait for an answer")
    func awaited() async throws {
        var configuration = HTTPServer.Configuration.longTimeouts
        configuration.maxConnections = 1
        configuration.reservedConnections = 1
        configuration.closeTimeout = .seconds(86_400)
        let (slow, healthGate) = (Slow(), Gate())
        let server = try TestServer(configuration) { request in
            guard request.target != "/slow" else { return slow.answer() }
            return .later(context: 0) {
                await healthGate.passage()
                return text("well")
            }
        }
        let busy = try await slow.clients(1, at: server)
        let first = try server.client()
        try first.send(get("/health"))
        await healthGate.arrival()

        let statuses = try await onThread {
            // No connection is closed while the reserved one waits for its answer.
            let refused = try server.client()
            let status = try refused.answer().status
            healthGate.open()
            // Stays connected, and sends no further request.
            #expect(try first.answer().status == 200)
            let checker = try server.client()
            try checker.send(get("/health"))
            return [status, try checker.answer().status]
        }
        slow.gate.open()
        (busy + [first]).forEach { $0.hangUp() }

        #expect(statuses == [503, 200])
    }

    @Test("At most half of the reserved connections serve vital requests whose answers take time")
    func slowVital() async throws {
        var configuration = HTTPServer.Configuration.longTimeouts
        configuration.maxConnections = 1
        configuration.reservedConnections = 4
        let (slow, vital) = (Slow(), Slow())
        let server = try TestServer(configuration) { request in
            if request.target == "/slow" { return slow.answer() }
            return request.method == .head ? .now(text("well")) : vital.answer()
        }
        let busy = try await slow.clients(1, at: server)

        let (refused, quick, answers) = try await onThread {
            let clients = try (0..<3).map { _ in
                let client = try server.client()
                try client.send(get("/health"))
                return client
            }
            let refused = try clients[2].answer()
            let checker = try server.client()
            try checker.send("HEAD /health HTTP/1.1\r\nHost: a\r\n\r\n")
            let quick = try checker.head()
            vital.gate.open()
            let answers = [try clients[0].answer(), try clients[1].answer()]
            (clients + [checker]).forEach { $0.hangUp() }
            return (refused, quick, answers)
        }
        slow.gate.open()
        busy.forEach { $0.hangUp() }

        #expect(refused.status == 503 && refused["Retry-After"] == "1")
        #expect(quick.status == 200)
        #expect(answers.allSatisfy { $0.status == 200 })
    }

    @Test("A client that does not read holds no reserved connection")
    func unread() async throws {
        var configuration = HTTPServer.Configuration.longTimeouts
        configuration.maxConnections = 1
        configuration.reservedConnections = 2
        let slow = Slow()
        let large = [UInt8](repeating: 0x61, count: 8 << 20)
        let server = try TestServer(configuration) { request in
            guard request.target != "/slow" else { return slow.answer() }
            var response = HTTPResponse(status: .ok)
            response.body = .bytes(large)
            return .now(response)
        }
        let busy = try await slow.clients(1, at: server)

        let status = try await onThread {
            let unread = try (0..<8).map { _ in
                let client = try server.client()
                try client.send(get("/health"))
                #expect(try client.head().status == 200)
                return client
            }
            let checker = try server.client()
            try checker.send("HEAD /health HTTP/1.1\r\nHost: a\r\n\r\n")
            let status = try checker.head().status
            (unread + [checker]).forEach { $0.hangUp() }
            return status
        }
        slow.gate.open()
        busy.forEach { $0.hangUp() }

        #expect(status == 200)
        #expect(server.rejections(.tooManyConnections) == 0)
    }

    /// More than the kernel buffers for a client that does not read: 4 MiB to send and up to 32 MiB received.
    private static let untakeable = [UInt8](repeating: 0x61, count: 40 << 20)

    /// A server with a limit of eight connections and such an answer.
    private static func serverOfLargeAnswers(
        loops: Int, _ configure: (inout HTTPServer.Configuration) -> Void = { _ in }
    ) throws -> TestServer {
        var configuration = HTTPServer.Configuration.longTimeouts
        configuration.loops = loops
        configuration.maxConnections = 8
        configuration.closeTimeout = .seconds(86_400)
        configure(&configuration)
        return try TestServer(configuration) { request in
            guard request.target == "/large" else { return .now(text(request.target)) }
            var response = HTTPResponse(status: .ok)
            response.body = .bytes(Self.untakeable)
            return .now(response)
        }
    }

    /// Connections from one address that request a large answer and read only its head.
    private static func readers(
        _ count: Int, at server: TestServer, from source: UInt32
    ) throws -> [RawHTTPClient] {
        try (0..<count).map { _ in
            let client = try server.networkClient(from: source)
            try client.send(get("/large"))
            #expect(try client.head().status == 200)
            return client
        }
    }

    @Test(
        "A client with more than half of all connections loses one to another client, whatever it does with them",
        arguments: [1, 2])
    func share(loops: Int) async throws {
        let server = try Self.serverOfLargeAnswers(loops: loops)

        let answers = try await onThread {
            let attackers = try Self.readers(8, at: server, from: 0x7F00_0002)
            let clients = try (0..<3).map { _ in try server.networkClient() }
            // Those neither get a connection nor close one of another client that is about to send a request.
            let more = try (0..<8).map { _ in try server.networkClient(from: 0x7F00_0002) }
            let answers = try clients.map { client in
                try client.send(get("/"))
                return try client.answer()
            }
            (attackers + clients + more).forEach { $0.hangUp() }
            return answers
        }

        #expect(answers.allSatisfy { $0.status == 200 && $0["Connection"] == nil })
        #expect(server.rejections(.evicted) == 3)
        #expect(server.rejections(.overload) == 0)
    }

    @Test("A client with half of all connections loses none to other clients", arguments: [1, 2])
    func halves(loops: Int) async throws {
        let server = try Self.serverOfLargeAnswers(loops: loops)

        let statuses = try await onThread {
            let readers = try [0x7F00_0002, 0x7F00_0003].flatMap {
                try Self.readers(4, at: server, from: $0)
            }
            let others = try [0x7F00_0001, 0x7F00_0002].map { try server.networkClient(from: $0) }
            let statuses = try others.map { client in
                try client.send(get("/"))
                return try client.answer().status
            }
            (readers + others).forEach { $0.hangUp() }
            return statuses
        }

        #expect(statuses == [503, 503])
        #expect(server.rejections(.evicted) == 0)
    }

    @Test("The connections of a trusted proxy are not counted as those of one client")
    func proxy() async throws {
        let server = try Self.serverOfLargeAnswers(loops: 1) {
            $0.isTrustedProxy = { $0 == .v4(0x7F00_0002) }
        }

        let status = try await onThread {
            let readers = try Self.readers(8, at: server, from: 0x7F00_0002)
            let client = try server.networkClient()
            try client.send(get("/"))
            let status = try client.answer().status
            (readers + [client]).forEach { $0.hangUp() }
            return status
        }

        #expect(status == 503)
        #expect(server.rejections(.evicted) == 0)
    }

    @Test("Connections are counted by IPv4 address, and by the /64 network of an IPv6 address")
    func clients() {
        let address = { PeerAddress(text: $0)?.client }
        #expect(address("2001:db8::1") == .v6(0x2001_0DB8_0000_0000, 0))
        #expect(address("2001:db8::1") == address("2001:db8::ffff:1"))
        #expect(address("2001:db8::1") != address("2001:db8:0:1::1"))
        #expect(address("::ffff:192.0.2.1") == .v4(0xC000_0201))
        #expect(address("192.0.2.1") != address("192.0.2.2"))
        #expect(PeerAddress.unix.client == nil)
    }

    @Test("The reserve gets its descriptors back when they are closed, whatever else needs descriptors")
    func numbers() throws {
        let reserve = DescriptorReserve(size: 1)
        let number = try #require(reserve.take())
        let socket = linux_socket(AF_INET, LINUX_SOCK_STREAM | LINUX_SOCK_CLOEXEC, 0)
        #expect(linux_dup3(socket, number, O_CLOEXEC) == number)

        reserve.close(orKeep: number)
        let again = reserve.take()
        reserve.close(orKeep: number)
        // The reserve is full.
        reserve.close(orKeep: socket)

        #expect(again == number)
        #expect(reserve.take() == number)
        #expect(reserve.take() == nil)
        reserve.close(orKeep: number)
    }
}
