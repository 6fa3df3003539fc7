// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import HTTPServer

@Suite("A draining server")
struct DrainTests {
    private static let grace = HTTPServer.Configuration.longTimeouts.drainGrace

    @Test(
        "A draining server answers requests in progress with Connection: close, and closes idle connections")
    func drain() async throws {
        let (started, gate, time) = (Gate(), Gate(), ManualTime())
        let server = try TestServer(by: time) { _ in
            .later(context: 0) {
                started.open()
                await gate.passage()
                return text("last")
            }
        }
        let idle = try server.client()
        let busy = try server.client()
        try busy.send(get("/"))
        await started.passage()

        try await server.drain {
            time.advance(by: Self.grace)
            try await onThread { _ = #expect(throws: RawHTTPClient.Failure.self) { try idle.answer() } }
            gate.open()

            try await onThread {
                let answer = try busy.answer()
                #expect(answer.text == "last")
                #expect(answer["Connection"] == "close")
                busy.hangUp()
            }
            time.advance(by: Self.grace / 2)
        }
        #expect(server.server.counts.connections == 0)
    }

    @Test("Draining reaches the clients of all loops at once, however long a client of one of them takes")
    func drainOfLoops() async throws {
        var configuration = HTTPServer.Configuration.longTimeouts
        configuration.loops = 2
        let (started, gate, time) = (Observed(0), Gate(), ManualTime())
        let server = try TestServer(configuration, by: time) { _ in
            .later(context: 0) {
                started.update { $0 += 1 }
                await gate.passage()
                return text("last")
            }
        }
        // Spread evenly: each loop has one that waits for an answer, and one that does not.
        let idle = try (0..<2).map { _ in try server.client() }
        let busy = try (0..<2).map { _ in try server.client() }
        for client in busy { try client.send(get("/")) }
        _ = await started.wait { $0 == 2 }

        try await server.drain {
            time.advance(by: Self.grace)
            let rests = try await onThread { try idle.map { try $0.receiveAll() } }
            #expect(rests == [[], []])
            gate.open()

            let answers = try await onThread { try busy.map { try $0.answer() } }
            #expect(answers.allSatisfy { $0["Connection"] == "close" && $0.text == "last" })
            busy.forEach { $0.hangUp() }
            time.advance(by: Self.grace / 2)
        }
    }

    enum Transport: CaseIterable {
        case unix, tcp
    }

    private static func client(_ transport: Transport, of server: TestServer) throws -> RawHTTPClient {
        try transport == .unix ? server.client() : server.networkClient()
    }

    @Test(
        "A connection's first or next request after the drain began is answered as its last one",
        arguments: Transport.allCases)
    func requestAfterTheBeginning(transport: Transport) async throws {
        var configuration = HTTPServer.Configuration.longTimeouts
        configuration.loops = 2
        configuration.drainGrace = .seconds(86_400)
        let server = try TestServer(configuration) { .now(text($0.target)) }
        // The first two are spread evenly: each loop has one.
        let clients = try (0..<52).map { _ in try Self.client(transport, of: server) }
        await server.counts { $0.connections == 52 }
        try await onThread {
            for client in clients.prefix(27) {
                try client.send(get("/before"))
                _ = try client.answer()
            }
        }

        try await server.drain {
            let answers = try await onThread {
                for client in clients.prefix(2) { try Self.awaitLastAnswer(to: client) }
                for client in clients.dropFirst(2) { try client.send(get("/after")) }
                return try clients.dropFirst(2).map { try $0.answer() }
            }
            clients.forEach { $0.hangUp() }

            #expect(answers.count == 50)
            #expect(answers.allSatisfy { $0.text == "/after" && $0["Connection"] == "close" })
        }
    }

    /// Sends requests until an answer announces the close: the client's loop drains.
    private static func awaitLastAnswer(to client: RawHTTPClient) throws {
        repeat { try client.send(get("/")) } while try client.answer()["Connection"] != "close"
    }

    /// Returns when the server has removed its unix socket, since it accepts no new connection.
    private static func awaitDrain(of server: TestServer) throws {
        try FolderWatch.waitForRemoval(of: server.path)
    }

    @Test(
        "A draining server answers all requests in the backlog, and those of handshakes that have just ended",
        arguments: Transport.allCases)
    func backlog(transport: Transport) async throws {
        var configuration = HTTPServer.Configuration.longTimeouts
        configuration.loops = 2
        let (held, release) = (Observed(0), DispatchGate())
        let server = try TestServer(configuration) { request in
            if request.target == "/hold" {
                held.update { $0 += 1 }
                release.pass()
            }
            return .now(text(request.target))
        }
        let holders = try (0..<2).map { _ in try Self.client(transport, of: server) }
        await server.counts { $0.connections == 2 }
        for holder in holders { try holder.send(get("/hold")) }
        _ = await held.wait { $0 == 2 }
        let clients = try (0..<100).map { number in
            let client = try Self.client(transport, of: server)
            try client.send(get("/\(number)"))
            return client
        }

        async let drained: Void = server.server.drain(within: .seconds(86_400))
        try await onThread { try Self.awaitDrain(of: server) }
        release.open()
        let answers = try await onThread { try clients.map { try $0.answer() } }
        (clients + holders).forEach { $0.hangUp() }
        await drained

        #expect(answers.map(\.text) == (0..<100).map { "/\($0)" })
        #expect(server.server.counts.accepted == 102)
    }

    @Test("A draining server closes an idle connection within the grace period, without a reset")
    func silentConnections() async throws {
        var configuration = HTTPServer.Configuration.longTimeouts
        // So that it is the drain that ends them.
        configuration.closeTimeout = .seconds(86_400)
        let time = ManualTime()
        let server = try TestServer(configuration, by: time) { .now(text($0.target)) }
        let (fresh, kept) = (try server.networkClient(), try server.networkClient())
        try await onThread {
            try kept.send(get("/"))
            _ = try kept.answer()
        }
        await server.counts { $0.connections == 2 }

        try await server.drain {
            try await server.passGrace(of: [fresh, kept], by: time)
        }

        #expect(server.server.counts.connections == 0)
        #expect(server.server.counts.rejected.isEmpty)
    }

    @Test("A draining server leaves the path of its socket to the server that has replaced it")
    func pathOfASuccessor() async throws {
        let (started, gate) = (Gate(), Gate())
        let server = try TestServer { _ in
            .later(context: 0) {
                started.open()
                await gate.passage()
                return text("last")
            }
        }
        let busy = try server.client()
        try busy.send(get("/"))
        await started.passage()
        let successor = try HTTPServer(
            configuration: .longTimeouts,
            handler: TestServer.Handler(respond: { .now(text($0.target)) }, finished: { _ in }))
        try await server.drain {
            _ = try successor.listen(on: [.unix(path: server.path)])
            try successor.start()
            gate.open()
            try await onThread {
                let answer = try busy.answer()
                #expect(answer.text == "last")
                busy.hangUp()
            }
        }

        let answer = try await onThread {
            let client = try server.client()
            defer { client.hangUp() }
            try client.send(get("/successor"))
            return try client.answer()
        }
        #expect(answer.text == "/successor")
    }
}
