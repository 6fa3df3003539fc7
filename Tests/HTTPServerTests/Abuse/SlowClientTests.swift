// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import HTTPServer

@Suite("Clients that take their time")
struct SlowClientTests {
    /// More pieces than a bound on the whole ever lets through: a minute of them.
    private static let tooMany = 12_000
    private static let pause = 5
    private static let large = [UInt8](repeating: 0x61, count: 8 << 20)

    @Test("A head that trickles in is bounded as a whole, not anew by each byte (RFC 9110 §15.5.9)")
    func tricklingHead() async throws {
        var configuration = HTTPServer.Configuration.patient
        configuration.headerTimeout = .milliseconds(100)
        configuration.maxHeaderBytes = 1 << 20
        let server = try TestServer(configuration) { .now(text($0.target)) }

        let (answer, rest) = try await onThread {
            let client = try server.client()
            try client.send("GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ")
            #expect(client.repeatedly(send: "a", pausing: Self.pause, atMost: Self.tooMany) < Self.tooMany)
            return (try client.answer(), try client.receiveAll())
        }

        #expect(answer.status == 408)
        #expect(answer["Connection"] == "close")
        #expect(rest.isEmpty)
        #expect(server.rejections(.headerTimeout) == 1)
    }

    @Test(
        "Content that trickles in is bounded as a whole, not anew by each byte (RFC 9110 §15.5.9)",
        arguments: [
            ("Content-Length: 1000000", "a"), ("Transfer-Encoding: chunked", "1\r\na\r\n"),
        ])
    func tricklingContent(framing: String, piece: String) async throws {
        var configuration = HTTPServer.Configuration.patient
        configuration.bodyTimeout = .milliseconds(100)
        let server = try TestServer(configuration) { .now(text($0.target)) }

        let (answer, rest) = try await onThread {
            let client = try server.client()
            try client.send("POST / HTTP/1.1\r\nHost: a\r\n\(framing)\r\n\r\n")
            #expect(client.repeatedly(send: piece, pausing: Self.pause, atMost: Self.tooMany) < Self.tooMany)
            return (try client.answer(), try client.receiveAll())
        }

        #expect(answer.status == 408)
        #expect(rest.isEmpty)
        #expect(server.rejections(.bodyTimeout) == 1)
    }

    @Test("A client that says nothing at all is let go without an answer, and counted")
    func silence() async throws {
        var configuration = HTTPServer.Configuration.patient
        configuration.headerTimeout = .milliseconds(50)
        let server = try TestServer(configuration) { .now(text($0.target)) }

        let received = try await onThread { try server.client().receiveAll() }

        #expect(received.isEmpty)
        #expect(server.server.counts.rejected == [.headerTimeout: 1])
        await server.emptiness()
    }

    @Test(
        "A client that does not take its answer is cut and counted; others are answered meanwhile",
        arguments: ["memory", "file"])
    func neverReading(source: String) async throws {
        var configuration = HTTPServer.Configuration.patient
        configuration.writeTimeout = .milliseconds(200)
        let file = try AnonymousFile(Self.large)
        let server = try TestServer(configuration) { request in
            guard request.target == "/large" else { return .now(text(request.target)) }
            var response = HTTPResponse(status: .ok)
            response.body = source == "file" ? file.body(0..<file.length) : .bytes(Self.large)
            return .now(response)
        }
        let slow = try server.client()
        try slow.send(get("/large"))

        try await onThread {
            let other = try server.client()
            // On the only loop there is: as long as the slow client is there, and once more.
            repeat {
                try other.send(get("/small"))
                #expect(try other.answer().text == "/small")
            } while server.server.counts.connections > 1
            other.hangUp()
        }
        let ended = await server.exchanges.wait { $0.contains { $0.wasCut } }

        #expect(server.rejections(.writeTimeout) == 1)
        let cut = try #require(ended.first { $0.wasCut })
        #expect((1..<Self.large.count).contains(cut.bodyBytesSent))
        slow.hangUp()
    }

    @Test("A client that takes its answer more slowly than the lowest rate is cut, however steadily it takes")
    func tricklingReader() async throws {
        var configuration = HTTPServer.Configuration.patient
        configuration.writeTimeout = .milliseconds(100)
        // Nobody takes as much a byte at a time.
        configuration.minSendRate = 1 << 30
        let server = try TestServer(configuration) { _ in
            var response = HTTPResponse(status: .ok)
            response.body = .bytes(Self.large)
            return .now(response)
        }
        let end = try await onThread {
            let client = try server.networkClient()
            defer { client.hangUp() }
            try client.send(get("/"))
            while server.rejections(.writeTimeout) == 0 { _ = try client.bytes(1) }
            do {
                while true { _ = try client.bytes(65_536) }
            } catch let failure as RawHTTPClient.Failure {
                return failure.description
            }
        }
        // Not an orderly end, behind which the kernel would go on offering what it was given.
        #expect(end == "the connection ended (-1, \(ECONNRESET))")
        let exchange = try #require(await server.exchanges.wait { !$0.isEmpty }.first)
        #expect(exchange.wasCut)
    }

    @Test("What a slow client took in the end no longer counts against the answer it waits for next")
    func writeTimeoutEnds() async throws {
        var configuration = HTTPServer.Configuration.patient
        configuration.writeTimeout = .seconds(5)
        let gate = Gate()
        let server = try TestServer(configuration) { request in
            guard request.target == "/large" else {
                return .later(context: 0) {
                    await gate.passage()
                    return text("late")
                }
            }
            var response = HTTPResponse(status: .ok)
            response.body = .bytes(Self.large)
            return .now(response)
        }
        try await onThread {
            let client = try server.client()
            try client.send(get("/large") + get("/later"))
            #expect(try client.answer().body.count == Self.large.count)
            // Nothing to take any more: only the deadline of the task counts. Longer than the write timeout and a tick.
            #expect(client.isQuiet(forMilliseconds: 5_600))
            gate.open()
            #expect(try client.answer().text == "late")
            client.hangUp()
        }
        #expect(server.rejections(.writeTimeout) == 0)
    }

    @Test("An answer that does not come in time is 503, and its task is cancelled")
    func lateAnswer() async throws {
        var configuration = HTTPServer.Configuration.patient
        configuration.requestTimeout = .milliseconds(50)
        let cancelled = Gate()
        let server = try TestServer(configuration) { request in
            guard request.target == "/never" else { return .now(text(request.target)) }
            return .later(context: 0) {
                await withTaskCancellationHandler {
                    await cancelled.passage()
                } onCancel: {
                    cancelled.open()
                }
                return text("too late")
            }
        }
        let answers = try await onThread {
            let client = try server.client()
            try client.send(get("/never") + get("/next"))
            return [try client.answer(), try client.answer()]
        }
        await cancelled.passage()

        #expect(answers.map(\.status) == [503, 200])
        #expect(server.rejections(.requestTimeout) == 1)
    }
}
