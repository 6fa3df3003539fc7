// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import HTTPServer

@Suite("Answers that wait for their client")
struct QueueTests {
    private static let large = [UInt8](repeating: 0x61, count: 8 << 20)

    private static func largeAnswer() -> HTTPResponse {
        var response = HTTPResponse(status: .ok)
        response.body = .bytes(large)
        return response
    }

    @Test("An answer of a task behind one that the client has not read stays in its own connection")
    func behindABlockedAnswer() async throws {
        let (gate, delivered) = (Gate(), Gate())
        var configuration = HTTPServer.Configuration.longTimeouts
        configuration.maxPipelinedBytes = 2 * Self.large.count
        let server = try TestServer(configuration) { request in
            switch request.target {
            case "/large": .now(Self.largeAnswer())
            case "/late":
                .later(context: 0) {
                    await gate.passage()
                    defer { delivered.open() }
                    return text("late")
                }
            default: .now(text(request.target))
            }
        }
        let slow = try server.client()
        try slow.send(get("/large") + get("/late"))
        await gate.arrival()
        gate.open()
        await delivered.passage()

        try await onThread {
            let other = try server.client()
            for number in 0..<100 {
                try other.send(get("/\(number)"))
                #expect(try other.answer().text == "/\(number)")
            }
            #expect(try slow.answer().body == Self.large)
            #expect(try slow.answer().text == "late")
            try slow.send(get("/end"))
            #expect(try slow.answer().text == "/end")
            other.hangUp()
            slow.hangUp()
        }
    }

    @Test("Clients that pipeline more than a batch of requests yield to others after each batch")
    func turnsBetweenBatches() async throws {
        var configuration = HTTPServer.Configuration.longTimeouts
        configuration.loops = 1
        configuration.maxPipelined = 16
        let gate = DispatchGate()
        let begun = Observed(false)
        let order = Observed<[String]>([])
        let server = try TestServer(configuration) { request in
            if request.target == "/hold" {
                begun.update { $0 = true }
                gate.pass()
            }
            order.update { $0.append(request.target) }
            return .now(text(request.target))
        }
        let (holder, flood, other) = (try server.client(), try server.client(), try server.client())
        try holder.send(get("/hold"))
        _ = await begun.wait { $0 }
        // Both have all of their requests in the kernel when the loop continues.
        try flood.send(String(repeating: get("/flood"), count: 1_000))
        try other.send(get("/other"))
        gate.open()
        try await onThread {
            let answer = try other.answer()
            #expect(answer.text == "/other")
            for _ in 0..<1_000 { #expect(try flood.answer().text == "/flood") }
            [holder, flood, other].forEach { $0.hangUp() }
        }
        let place = try #require(order.value.firstIndex(of: "/other"))
        #expect(place <= 1 + 4 * configuration.maxPipelined)
    }

    @Test("A client that pipelines endlessly, and reads, delays no other client")
    func endlessPipeline() async throws {
        let server = try TestServer { .now(text($0.target)) }
        let isOver = Flag()
        let floods = try (0..<3).map { _ in try server.client() }
        async let flooding: Void = Self.flood(floods, until: isOver)
        try await onThread {
            let other = try server.client()
            for number in 0..<10 {
                try other.send(get("/\(number)"))
                #expect(try other.answer().text == "/\(number)")
            }
            other.hangUp()
        }
        isOver.set()
        try await flooding
        #expect(server.server.counts.rejected.isEmpty)
        floods.forEach { $0.hangUp() }
    }

    /// Lets every client send requests as fast as the server reads them, and read the answers as fast as they
    /// come.
    private static func flood(_ clients: [RawHTTPClient], until isOver: Flag) async throws {
        let requests = String(repeating: get("/flood"), count: 2_000)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in clients {
                group.addTask {
                    try await onThread {
                        while !isOver.isSet { try client.send(requests) }
                        client.finishSending()
                    }
                }
                group.addTask { _ = try await onThread { try client.receiveAll() } }
            }
            try await group.waitForAll()
        }
    }

    @Test("Draining does not wait for clients that have their last answer and do not half-close")
    func drainWithoutTheirEnd() async throws {
        var configuration = HTTPServer.Configuration.longTimeouts
        configuration.closeTimeout = .seconds(86_400)
        let time = ManualTime()
        let server = try TestServer(configuration, by: time) { .now(text($0.target)) }
        let clients = try await onThread {
            try ["Connection: close\r\n", "Host: a second one\r\n", ""].map { line in
                let client = try server.client()
                try client.send(get("/", line))
                _ = try client.answer()
                return client
            }
        }
        #expect(server.server.counts.connections == 3)

        try await server.drain {
            try await server.passGrace(of: clients, by: time)
        }

        #expect(server.server.counts.connections == 0)
        clients.forEach { $0.hangUp() }
    }

    @Test("Draining closes a connection as soon as its client has read what was already being sent")
    func drainBehindABlockedAnswer() async throws {
        let time = ManualTime()
        let server = try TestServer(by: time) { _ in .now(Self.largeAnswer()) }
        let client = try server.client()
        try client.send(get("/"))
        // The first byte is there: the answer has been made, and does not announce an end.
        while client.isQuiet(forMilliseconds: 10) {}

        try await server.drain {
            let answer = try await onThread { try client.answer() }
            #expect(answer.body.count == Self.large.count)
            try await server.passGrace(of: [client], by: time)
        }
        #expect(server.server.counts.connections == 0)
        client.hangUp()
    }
}

/// A flag that becomes true once.
private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)

    var isSet: Bool { value.load(ordering: .relaxed) }

    func set() { value.store(true, ordering: .relaxed) }
}
