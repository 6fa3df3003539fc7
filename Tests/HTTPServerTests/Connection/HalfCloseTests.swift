// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

@Suite("Clients that half-close")
struct HalfCloseTests {
    private static func awaiting(
        _ request: String = get("/"), _ change: (inout HTTPServer.Configuration) -> Void = { _ in }
    ) -> TestConnection {
        var configuration = HTTPServer.Configuration()
        change(&configuration)
        let connection = TestConnection(configuration) { _ in .later(context: 7) { text("late") } }
        connection.send(request)
        connection.endClientSide()
        return connection
    }

    @Test(
        "A half-closed client receives the beginning of its answer octet by octet, after pauses that double")
    func octets() {
        let connection = Self.awaiting { $0.requestTimeout = .seconds(3_600) }
        var (pause, beginning) = (2, "H")
        for octet in "TTP/1.1 " {
            #expect(connection.received == beginning)
            #expect(
                connection.changes(at: .seconds(pause)) { $0.received == beginning + "\(octet)" }
                    == [false, true])
            beginning += "\(octet)"
            pause *= 2
        }
        connection.pass(.seconds(1_200))
        #expect(connection.received == "HTTP/1.1 ")

        connection.respond(text("late"))

        #expect(connection.received.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(connection.received.contains("Connection: close\r\n"))
        #expect(connection.received.hasSuffix("\r\n\r\nlate"))
        #expect(connection.isClosed && connection.rejections.isEmpty)
    }

    @Test(
        "A half-closed client that still reads gets the answer it waits for, however long that takes (RFC 9112 §9.6)",
        arguments: ["1.0", "1.1"], ["whole", "in pieces", "too late"])
    func answer(version: String, answer: String) {
        let connection = Self.awaiting("GET / HTTP/\(version)\r\nHost: a\r\n\r\n")
        connection.pass(.seconds(59))
        #expect(connection.received == "HT")

        switch answer {
        case "whole": connection.respond(text("late"))
        case "in pieces": connection.respond(TestBody(.text("late"), .end).answer())
        default: connection.pass(.seconds(1))
        }

        #expect(connection.received.hasPrefix(answer == "too late" ? "HTTP/1.1 503 " : "HTTP/1.1 200 OK\r\n"))
        #expect(connection.received.ranges(of: "HTTP/1.1").count == 1)
        #expect(connection.isClosed && !connection.isReset)
        #expect(connection.exchanges.map(\.wasCut) == [false])
        #expect(connection.cancelledTasks == (answer == "too late" ? 1 : 0))
        if answer == "too late" { return }
        #expect(connection.received.contains("late"))
        #expect(answer == "whole" || version == "1.0" || connection.received.hasSuffix("0\r\n\r\n"))
    }

    @Test(
        "When a half-closed client disconnects later, the next octet cancels its task; it is not counted")
    func leaving() {
        for seconds in 0..<8 {
            let connection = Self.awaiting()
            connection.pass(.seconds(seconds))
            connection.leave()
            // Detected after at most as long as the client has waited, and 2 s.
            connection.pass(.seconds(seconds + 2))

            #expect(connection.isClosed, "\(seconds)")
            #expect(connection.cancelledTasks == 1)
            #expect(connection.exchanges.map(\.status.code) == [499])
            #expect(connection.exchanges.first?.context == 7)
            #expect(connection.rejections.isEmpty)
        }
    }

    @Test("A client that resets its connection has its task cancelled, and is counted")
    func reset() {
        let connection = TestConnection { _ in .later(context: 7) { text("late") } }
        connection.send(get("/"))
        connection.reset()

        #expect(connection.isClosed && connection.cancelledTasks == 1)
        #expect(connection.rejections == [.reset])
        #expect(connection.exchanges.map(\.status.code) == [499])
    }

    @Test("A half-closed client receives all of a body, however slow")
    func body() {
        let body = TestBody(.text("first"))
        let connection = TestConnection { _ in .now(body.answer()) }
        connection.send(get("/"))
        connection.endClientSide()
        for _ in 0..<10 {
            connection.pass(.seconds(59))
            body.arrive(.text("more"))
            connection.wakeStream()
        }
        body.arrive(.text("last"), .end)
        connection.wakeStream()

        #expect(connection.received.hasSuffix("4\r\nmore\r\n4\r\nlast\r\n0\r\n\r\n"))
        #expect(connection.isClosed && connection.rejections.isEmpty)
    }

    @Test("A half-closed client is cut when a body stalls for too long")
    func stalledBody() {
        let body = TestBody(.text("abc"))
        let connection = TestConnection { _ in .now(body.answer()) }
        connection.send(get("/"))
        connection.endClientSide()

        #expect(connection.changes(at: .seconds(60), \.isClosed) == [false, true])

        #expect(connection.rejections == [.requestTimeout])
        #expect(connection.exchanges.map(\.summary) == ["200 3 cut"])
    }

    @Test(
        "A client that half-closes within a request is counted",
        arguments: ["GET / HT", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1"])
    func incomplete(start: String) {
        let connection = TestConnection()
        connection.send(start)
        connection.endClientSide()

        #expect(connection.isClosed)
        #expect(connection.rejections == [.incomplete])
    }
}
