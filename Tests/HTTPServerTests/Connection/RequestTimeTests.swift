// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

@Suite("Timeouts of a request")
struct RequestTimeTests {
    private static let configuration = HTTPServer.Configuration()

    @Test(
        "Requests in a row that take the loop long yield to other connections after a millisecond, short ones after a batch"
    )
    func longRequests() {
        for (answerTime, turns) in [(0, 1...2), (600_000, 3...11)] as [(UInt64, ClosedRange<Int>)] {
            let connection = TestConnection()
            connection.answerTime = answerTime
            let before = connection.turns

            connection.send(String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: 10))

            #expect(connection.statuses == [Int](repeating: 200, count: 10))
            #expect(turns.contains(connection.turns - before), "\(connection.turns - before) turns")
        }
    }

    @Test("A client that sends nothing is closed without an answer, and counted")
    func silence() {
        let connection = TestConnection()

        #expect(connection.changes(at: Self.configuration.headerTimeout, \.isClosed) == [false, true])

        #expect(connection.sent.isEmpty)
        #expect(connection.rejections == [.headerTimeout])
    }

    @Test("A restricted connection has the timeout of a closing one for its first request")
    func restrictedSilence() {
        let connection = TestConnection(isRestricted: true)

        #expect(connection.changes(at: Self.configuration.closeTimeout, \.isClosed) == [false, true])
        #expect(connection.rejections == [.headerTimeout])
    }

    @Test(
        "The first head is refused when the timeout that began with the connection expires, and not before",
        arguments: ["G", "GET / HTTP/1.1\r\nHost:"])
    func firstHead(start: String) {
        let connection = TestConnection()
        connection.pass(.seconds(3))
        connection.send(start)

        #expect(connection.changes(at: .seconds(7)) { $0.statuses == [408] } == [false, true])

        #expect(connection.received.contains("Connection: close\r\n"))
        #expect(connection.rejections == [.headerTimeout])
        #expect(connection.hasFinishedSending)
    }

    @Test("The timeout of a later head begins with its first octet")
    func laterHead() {
        let connection = TestConnection()
        connection.send(get("/"))
        connection.pass(.seconds(70))
        connection.send("G")

        #expect(connection.changes(at: .seconds(10)) { $0.statuses == [200, 408] } == [false, true])
    }

    @Test("A head that is sent slowly has one timeout; a byte does not restart it (RFC 9110 §15.5.9)")
    func tricklingHead() {
        let connection = TestConnection()
        connection.send("GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ")
        for _ in 1..<10 {
            connection.pass(.seconds(1))
            connection.send("a")
        }
        #expect(connection.sent.isEmpty)

        connection.pass(.seconds(1))

        #expect(connection.statuses == [408])
        #expect(connection.rejections == [.headerTimeout])
    }

    @Test("The timeout begins anew with each head, however the bytes of several heads are split")
    func headTimeOfEach() {
        let connection = TestConnection()
        let request = get("/a")
        connection.send(String(request.prefix(10)))
        // Every piece ends one head and begins the next.
        for number in 1...12 {
            connection.pass(.seconds(9))
            connection.send(String(request.dropFirst(10) + request.prefix(10)))
            #expect(connection.statuses.count == number)
        }
        #expect(connection.rejections.isEmpty)

        #expect(connection.changes(at: .seconds(10)) { $0.statuses.contains(408) } == [false, true])
    }

    @Test("An empty line after a request begins no head")
    func emptyLine() {
        let connection = TestConnection()
        connection.send(get("/") + "\r\n")

        #expect(connection.changes(at: Self.configuration.headerTimeout, \.isClosed) == [false, true])
        #expect(connection.statuses == [200])
    }

    @Test(
        "Content that is sent slowly has one timeout; a byte does not restart it (RFC 9110 §15.5.9)",
        arguments: [("Content-Length: 1000000", "a"), ("Transfer-Encoding: chunked", "1\r\na\r\n")])
    func tricklingContent(framing: String, piece: String) {
        let connection = TestConnection()
        connection.send("POST / HTTP/1.1\r\nHost: a\r\n\(framing)\r\n\r\n")
        for _ in 1..<30 {
            connection.pass(.seconds(1))
            connection.send(piece)
        }
        #expect(connection.changes(at: .seconds(1)) { $0.statuses == [408] } == [false, true])

        #expect(connection.rejections == [.bodyTimeout])
    }

    @Test(
        "A 408 has content unless the request is HEAD",
        arguments: [("HEAD", 0), ("GET", 1)])
    func methodOfLateRequest(method: String, contents: Int) {
        for start in [
            "\r\n\r\n\(method) / HTTP/1.1\r\nX: ",
            "\(method) / HTTP/1.1\r\nHo", "\(method) / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1",
        ] {
            let connection = TestConnection()
            connection.send(start)
            connection.pass(.seconds(30))

            #expect(connection.statuses == [408])
            #expect(connection.received.components(of: #""status":408"#) == contents)
        }
    }

    @Test(
        "A connection that is idle too long is closed, whether its last answer was immediate or made by a task",
        arguments: [false, true])
    func idle(isTask: Bool) {
        let connection = TestConnection { _ in isTask ? .later(context: 0) { text("a") } : .now(text("a")) }
        connection.pass(.seconds(9))
        connection.send(get("/"))
        if isTask {
            connection.pass(.seconds(59))
            connection.respond(text("a"))
        }
        #expect(connection.statuses == [200])

        #expect(connection.changes(at: Self.configuration.idleTimeout, \.isClosed) == [false, true])
        #expect(connection.rejections.isEmpty)
        #expect(!connection.isReset)
    }

    @Test("Each request restarts the idle timeout")
    func idleAnew() {
        let connection = TestConnection()
        for number in 1...5 {
            connection.send(get("/"))
            connection.pass(.seconds(74))
            #expect(connection.statuses.count == number)
        }
        #expect(!connection.isClosed)
    }

    @Test("An answer that exceeds its timeout is 503, and its task is cancelled")
    func lateAnswer() {
        let connection = TestConnection { request in
            request.target == "/never" ? .later(context: 7) { text("too late") } : .now(text(request.target))
        }
        connection.send(get("/never") + get("/next"))
        let number = connection.task ?? 0

        #expect(connection.changes(at: .seconds(60)) { $0.statuses == [503, 200] } == [false, true])

        #expect(connection.cancelledTasks == 1)
        #expect(connection.rejections == [.requestTimeout])
        #expect(connection.exchanges.map(\.status.code) == [503, 200])
        #expect(connection.exchanges.first?.context == 7)
        // The response that comes in the end belongs to no request any more.
        let received = connection.received
        connection.deliver(text("too late"), answerNumber: number)
        #expect(connection.received == received)
    }

    @Test("A body that stalls for too long is cut, and not counted as a slow client")
    func stalledBody() {
        let body = TestBody(.text("abc"))
        let connection = TestConnection { _ in .now(body.answer()) }
        connection.send(get("/"))
        connection.pass(.seconds(59))
        body.arrive(.text("def"))
        connection.wakeStream()

        #expect(connection.changes(at: .seconds(60), \.isClosed) == [false, true])

        #expect(connection.rejections == [.requestTimeout])
        #expect(connection.exchanges.map(\.summary) == ["200 6 cut"])
        #expect(connection.received.hasSuffix("3\r\nabc\r\n3\r\ndef\r\n"))
    }
}

extension String {
    /// How often a text occurs.
    fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}
