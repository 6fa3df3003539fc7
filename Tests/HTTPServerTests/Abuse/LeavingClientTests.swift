// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import HTTPServer

@Suite("Clients that leave")
struct LeavingClientTests {
    @Test("The last answer to a client that has ended its side says that it is the last (RFC 9112 §9.6)")
    func lastAnswer() async throws {
        let gate = Gate()
        var configuration = HTTPServer.Configuration.patient
        // Asked once whether it still listens.
        configuration.closeTimeout = .seconds(600)
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
            // By then the server has heard that.
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
        "Whoever leaves while a task works on the answer, in whatever way, has the task cancelled",
        arguments: Departure.allCases)
    func whileWaiting(departure: Departure) async throws {
        let (started, cancelled) = (Gate(), Gate())
        var configuration = HTTPServer.Configuration.patient
        configuration.closeTimeout = .milliseconds(50)
        let note = Gate()
        let server = try TestServer(configuration) { _ in
            .later(context: 7, note: note) {
                await withTaskCancellationHandler {
                    started.open()
                    await cancelled.passage()
                } onCancel: {
                    cancelled.open()
                }
                return text("nobody reads this")
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
        "A client that has ended its side and still listens gets the answer it waits for, however long that takes (RFC 9112 §9.6)",
        arguments: ["1.0", "1.1"], ["whole", "in pieces", "too late"])
    func halfClosed(version: String, answer: String) async throws {
        let (started, release) = (Gate(), Gate())
        var configuration = HTTPServer.Configuration.patient
        configuration.closeTimeout = .milliseconds(50)
        if answer == "too late" { configuration.requestTimeout = .seconds(1) }
        let server = try TestServer(configuration) { _ in
            .later(context: 7) {
                started.open()
                await release.passage()
                return answer == "whole" ? text("late") : TestBody(.text("late"), .end).answer()
            }
        }
        let client = try server.networkClient()
        try client.send("GET / HTTP/\(version)\r\nHost: a\r\n\r\n")
        await started.passage()
        client.finishSending()

        let received = try await onThread {
            // The server has asked twice by then: the time has passed after which a client has left that says nothing more.
            let beginning = try client.bytes(3)
            if answer != "too late" { release.open() }
            return String(decoding: try beginning + client.receiveAll(), as: UTF8.self)
        }
        release.open()

        #expect(received.hasPrefix(answer == "too late" ? "HTTP/1.1 503 " : "HTTP/1.1 200 OK\r\n"))
        #expect(received.ranges(of: "HTTP/1.1").count == 1)
        if answer == "too late" { return client.hangUp() }
        #expect(received.contains("late"))
        #expect(answer == "whole" || version == "1.0" || received.hasSuffix("0\r\n\r\n"))
        let exchange = try #require(await server.exchanges.wait { !$0.isEmpty }.first)
        #expect(exchange.status.code == 200 && !exchange.wasCut)
        await server.emptiness()
        client.hangUp()
    }

    @Test(
        "A client that ends its side together with its request is answered, and its connection does not linger"
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
        // Its connection is known to the loop before the loop is held up, so that request and end come in one event.
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

    @Test("A client that has ended its side gets all of a body, however long that brings nothing")
    func halfClosedDuringBody() async throws {
        var configuration = HTTPServer.Configuration.patient
        configuration.closeTimeout = .milliseconds(50)
        let body = TestBody(.text("first"))
        let server = try TestServer(configuration) { request in
            guard request.target == "/last" else { return .now(body.answer()) }
            var response = text("last")
            response.closesConnection = true
            return .now(response)
        }
        let client = try server.networkClient()
        try client.send(get("/"))
        let other = try await onThread {
            _ = try client.head()
            #expect(try client.chunk() == Array("first".utf8))
            client.finishSending()
            let other = try server.networkClient()
            try other.send(get("/last"))
            _ = try other.answer()
            return other
        }
        // The server has ended the other one, which has not ended its side, after the same time.
        await server.counts { $0.connections == 1 }
        body.arrive(.text("last"), .end)
        let rest = try await onThread { try client.receiveAll() }

        other.hangUp()
        #expect(String(decoding: rest, as: UTF8.self) == "4\r\nlast\r\n0\r\n\r\n")
        client.hangUp()
    }

    @Test("The octets that a waiting client is sent ahead are those that every answer begins with")
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

    @Test("A client that ends its side together with its request gets all of a body that arrives over time")
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
        "Whoever leaves in the middle of a head, of content or of an answer leaves nothing behind",
        arguments: [
            "GET / HTTP/1.1\r\nHo", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12",
            "GET /large HTTP/1.1\r\nHost: a\r\n\r\n",
        ])
    func inTheMiddle(bytes: String) async throws {
        var configuration = HTTPServer.Configuration.patient
        // Nothing else may end them, however busy the machine.
        configuration.headerTimeout = .seconds(600)
        configuration.bodyTimeout = .seconds(600)
        configuration.writeTimeout = .seconds(600)
        let server = try TestServer(configuration) { request in
            var response = HTTPResponse(status: .ok)
            response.body = .bytes([UInt8](repeating: 0, count: 16 << 20))
            return .now(response)
        }
        for isReset in [true, false] {
            let client = try server.networkClient()
            try client.send(bytes)
            // Nobody leaves before having been let in.
            await server.counts { $0.accepted > (isReset ? 0 : 1) }
            if isReset { client.reset() } else { client.hangUp() }
            await server.emptiness()
        }

        let isAnswered = bytes.contains("/large")
        #expect(server.exchanges.value.allSatisfy { $0.wasCut && $0.status.code == 200 })
        #expect(isAnswered || server.exchanges.value.isEmpty)
        // A client that goes with bytes unread resets its connection, too.
        #expect(server.rejections(.reset) >= 1)
        #expect(server.rejections(.incomplete) == (isAnswered ? 0 : 1))
        #expect(server.server.counts.rejected.keys.allSatisfy { $0 == .reset || $0 == .incomplete })
    }
}
