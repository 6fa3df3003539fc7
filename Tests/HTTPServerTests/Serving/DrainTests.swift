// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import HTTPServer

@Suite("A server that drains")
struct DrainTests {
    @Test("answers what is in flight with Connection: close, and ends idle connections")
    func drain() async throws {
        let started = Gate()
        let gate = Gate()
        let server = try TestServer { _ in
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

        async let drained: Void = server.server.drain(within: .seconds(30))
        try await onThread { _ = #expect(throws: RawHTTPClient.Failure.self) { try idle.answer() } }
        gate.open()

        try await onThread {
            let answer = try busy.answer()
            #expect(answer.text == "last")
            #expect(answer["Connection"] == "close")
            busy.hangUp()
        }
        await drained
        #expect(server.server.counts.connections == 0)
    }

    @Test("tells the clients of all loops at once, however long a client of one of them takes")
    func drainOfLoops() async throws {
        var configuration = HTTPServer.Configuration.patient
        configuration.loops = 2
        let (started, gate) = (Observed(0), Gate())
        let server = try TestServer(configuration) { _ in
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

        async let drained: Void = server.server.drain(within: .seconds(600))
        let rests = try await onThread { try idle.map { try $0.receiveAll() } }
        #expect(rests == [[], []])
        gate.open()

        let answers = try await onThread { try busy.map { try $0.answer() } }
        #expect(answers.allSatisfy { $0["Connection"] == "close" && $0.text == "last" })
        busy.forEach { $0.hangUp() }
        await drained
    }
}
