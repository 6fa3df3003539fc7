// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import HTTPServer

@Suite("Clients that disconnect")
struct LeavingClientTests {
    @Test("The last answer to a half-closed client announces the close (RFC 9112 §9.6)")
    func lastAnswer() async throws {
        let gate = Gate()
        var configuration = HTTPServer.Configuration.longTimeouts
        // The server probes once whether it still reads.
        configuration.closeTimeout = .seconds(86_400)
        let server = try TestServer(configuration) { request in
            guard request.target == "/slow" else { return .now(text(request.target)) }
            return .later(context: 0) {
                await gate.passage()
                return text(request.target)
            }
        }
        let answers = try await onThread {
            let client = try server.client()
            try client.send(get("/slow") + get("/last"))
            client.finishSending()
            // By then the server has detected that.
            #expect(try client.bytes(1) == Array("H".utf8))
            gate.open()
            let answers = [try client.answer(), try client.answer()]
            #expect(try client.receiveAll().isEmpty)
            client.hangUp()
            return answers
        }

        #expect(answers.map(\.text) == ["/slow", "/last"])
        #expect(answers.map { $0["Connection"] } == [nil, "close"])
    }

    enum Departure: CaseIterable {
        case reset, closed, closedLater, closedAsHTTP10
    }

    @Test(
        "A client that disconnects while a task works on the answer has the task cancelled, however it disconnects",
        arguments: Departure.allCases)
    func whileWaiting(departure: Departure) async throws {
        let (started, cancelled) = (Gate(), Gate())
        let (note, time) = (Gate(), ManualTime())
        let server = try TestServer(by: time) { _ in
            .later(context: 7, note: note) {
                await withTaskCancellationHandler {
                    started.open()
                    await cancelled.passage()
                } onCancel: {
                    cancelled.open()
                }
                return text("no client reads this")
            }
        }
        let client = try server.networkClient()
        try client.send(departure == .closedAsHTTP10 ? "GET / HTTP/1.0\r\n\r\n" : get("/"))
        await started.passage()

        switch departure {
        case .reset: client.reset()
        case .closed, .closedAsHTTP10: client.hangUp()
        case .closedLater:
            client.finishSending()
            let first = try await onThread { try client.bytes(1) }
            #expect(first == Array("H".utf8))
            client.hangUp()
            time.advance(by: HTTPServer.Configuration.longTimeouts.closeTimeout)
        }

        await cancelled.passage()
        let exchange = try #require(await server.exchanges.wait { !$0.isEmpty }.first)
        #expect(exchange.status.code == 499)
        #expect(exchange.context == 7 && exchange.note === note)
        #expect(exchange.wasCut)
        #expect(server.server.counts.rejected == (departure == .reset ? [.reset: 1] : [:]))
        await server.emptiness()
    }

    @Test(
        "A client that half-closes with its request is answered, and its connection does not linger"
    )
    func requestAndEnd() async throws {
        let (isHeld, release) = (Gate(), DispatchGate())
        let server = try TestServer { request in
            if request.target == "/hold" {
                isHeld.open()
                release.pass()
            }
            return .now(text(request.target))
        }
        let holder = try server.networkClient()
        let client = try server.networkClient()
        // The loop knows the connection before it is blocked, so that request and end come in one event.
        try await onThread {
            try client.send(get("/first"))
            #expect(try client.answer().text == "/first")
        }
        try holder.send(get("/hold"))
        await isHeld.passage()
        try client.send(get("/last"))
        client.finishSending()
        release.open()

        let received = try await onThread { try client.receiveAll() }

        #expect(String(decoding: received, as: UTF8.self).hasSuffix("/last"))
        client.hangUp()
        holder.hangUp()
    }

    @Test("The octets sent ahead to a waiting client are those with which every answer begins")
    func beginning() throws {
        let encoder = ResponseEncoder()
        for code in [200, 304, 404, 503] as [UInt16] {
            var bytes = ReusedArray<UInt8>()
            encoder.encode(
                HTTPResponse(status: HTTPStatus(code)),
                ResponseEncoder.Frame(
                    framing: .length(0), requestID: RequestID(1), keepsAlive: true, isHTTP10: false),
                into: &bytes)
            let text = bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            #expect(text.hasPrefix(ResponseEncoder.beginning.description), "\(code)")
        }
    }

    @Test("A client that half-closes with its request gets the whole of a body that is received over time")
    func requestAndEndStreaming() async throws {
        let body = TestBody(.text("first"))
        let (isHeld, release) = (Gate(), DispatchGate())
        let server = try TestServer { request in
            guard request.target == "/hold" else { return .now(body.answer()) }
            isHeld.open()
            release.pass()
            return .now(text(request.target))
        }
        let holder = try server.networkClient()
        let client = try server.networkClient()
        await server.counts { $0.connections == 2 }
        try holder.send(get("/hold"))
        await isHeld.passage()
        try client.send(get("/"))
        client.finishSending()
        release.open()

        let received = try await onThread {
            _ = try client.head()
            #expect(try client.chunk() == Array("first".utf8))
            body.arrive(.text("last"), .end)
            return try client.receiveAll()
        }

        #expect(String(decoding: received, as: UTF8.self) == "4\r\nlast\r\n0\r\n\r\n")
        client.hangUp()
        holder.hangUp()
    }

    @Test(
        "A client that disconnects within a head, content or an answer leaves nothing behind",
        arguments: [
            "GET / HTTP/1.1\r\nHo", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12",
            "GET /large HTTP/1.1\r\nHost: a\r\n\r\n",
        ])
    func inTheMiddle(bytes: String) async throws {
        var configuration = HTTPServer.Configuration.longTimeouts
        // Nothing else may end them, however busy the machine.
        configuration.headerTimeout = .seconds(86_400)
        configuration.bodyTimeout = .seconds(86_400)
        configuration.writeTimeout = .seconds(86_400)
        let server = try TestServer(configuration) { request in
            var response = HTTPResponse(status: .ok)
            response.body = .bytes([UInt8](repeating: 0, count: 16 << 20))
            return .now(response)
        }
        for isReset in [true, false] {
            let client = try server.networkClient()
            try client.send(bytes)
            // No client disconnects before it has been accepted.
            await server.counts { $0.accepted > (isReset ? 0 : 1) }
            if isReset { client.reset() } else { client.hangUp() }
            await server.emptiness()
        }

        let isAnswered = bytes.contains("/large")
        #expect(server.exchanges.value.allSatisfy { $0.wasCut && $0.status.code == 200 })
        #expect(isAnswered || server.exchanges.value.isEmpty)
        // A client that closes with bytes unread resets its connection, too.
        #expect(server.rejections(.reset) >= 1)
        #expect(server.rejections(.incomplete) == (isAnswered ? 0 : 1))
        #expect(server.server.counts.rejected.keys.allSatisfy { $0 == .reset || $0 == .incomplete })
    }
}
