// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

@Suite("Timeouts of a closing connection")
struct ClosingTimeTests {
    private static let last = get("/", "Connection: close\r\n")

    private static func connection(_ body: [UInt8] = Array("last".utf8)) -> TestConnection {
        TestConnection { _ in
            var response = HTTPResponse(status: .ok)
            response.body = .bytes(body)
            return .now(response)
        }
    }

    @Test("A connection whose client does not half-close after the last answer is closed in order")
    func linger() {
        let connection = Self.connection()
        connection.send(Self.last)
        #expect(connection.hasFinishedSending && !connection.isClosed)

        #expect(connection.changes(at: .seconds(2), \.isClosed) == [false, true])

        #expect(connection.rejections.isEmpty && !connection.isReset)
    }

    @Test("A connection whose client half-closes after the last answer is closed at once")
    func end() {
        let connection = Self.connection()
        connection.send(Self.last)
        connection.endClientSide()

        #expect(connection.isClosed && !connection.isReset)
        #expect(connection.exchanges.map(\.summary) == ["200 4"])
    }

    @Test("What a client sends after the last request of its connection is discarded")
    func behindTheEnd() {
        let connection = Self.connection()
        connection.send(Self.last + get("/never"))
        for _ in 0..<100 { connection.send(get("/never")) }

        #expect(connection.statuses == [200])
        #expect(connection.changes(at: .seconds(2), \.isClosed) == [false, true])
    }

    @Test(
        "A client whose host acknowledges the last answer at the lowest rate keeps its connection until it has received all"
    )
    func acknowledging() {
        let connection = Self.connection([UInt8](repeating: 0x61, count: 4_096))
        connection.stopTaking(after: .max - 1)
        connection.send(Self.last)
        // 256 octets a second, as checked every two seconds.
        for _ in 0..<7 {
            connection.take(512)
            connection.pass(.seconds(2))
            #expect(!connection.isClosed)
        }
        connection.takeAll()

        #expect(connection.changes(at: .seconds(2), \.isClosed) == [false, true])
        #expect(connection.rejections.isEmpty && !connection.isReset)
    }

    enum Ending: CaseIterable {
        case kept, lastAnswer, halfClosed
    }

    @Test(
        "A client whose host acknowledges nothing of the last answer is reset at the timeout",
        arguments: Ending.allCases)
    func unacknowledged(ending: Ending) {
        let connection = Self.connection()
        connection.stopTaking(after: .max - 1)
        connection.send(ending == .kept ? get("/") : Self.last)
        if ending == .halfClosed { connection.endClientSide() }
        // Persistent connections wait for a request first, closing ones for the client's FIN.
        connection.pass(ending == .kept ? .seconds(75) : .seconds(2))
        #expect(!connection.isClosed)

        #expect(connection.changes(at: .seconds(60), \.isClosed) == [false, true])

        #expect(connection.rejections == [.writeTimeout])
        #expect(connection.isReset)
        #expect(connection.exchanges.map(\.wasCut) == [false])
    }

    @Test("A half-closed connection ends as soon as the client's host has received the whole answer")
    func halfClosed() {
        let connection = Self.connection()
        connection.stopTaking(after: .max - 1)
        connection.send(get("/"))
        connection.endClientSide()
        #expect(!connection.isClosed && connection.hasFinishedSending)

        connection.takeAll()
        connection.pass(.milliseconds(250))

        #expect(connection.isClosed && !connection.isReset)
        #expect(connection.rejections.isEmpty)
    }

    // MARK: - Draining

    @Test("While the server drains, an idle connection is closed in order", arguments: [0, 1])
    func drainGrace(requests: Int) {
        let connection = Self.connection()
        for _ in 0..<requests { connection.send(get("/")) }
        connection.pass(.seconds(5))
        connection.drain()

        #expect(connection.changes(at: .seconds(1), \.hasFinishedSending) == [false, true])
        #expect(!connection.isClosed)
        // Half of the grace period, which is less than `closeTimeout`.
        #expect(connection.changes(at: .milliseconds(500), \.isClosed) == [false, true])
        #expect(connection.rejections.isEmpty && !connection.isReset)
    }

    @Test("While the server drains, a request is answered as the last one of its connection")
    func lastRequest() {
        let connection = Self.connection()
        connection.send(get("/"))
        connection.drain()
        connection.pass(.milliseconds(999))
        connection.send(get("/") + get("/"))

        #expect(connection.statuses == [200, 200])
        #expect(connection.received.ranges(of: "Connection: close").count == 1)
        #expect(connection.hasFinishedSending)
    }

    @Test("A head that has begun when the server drains keeps its own timeout, and is answered")
    func headWhileDraining() {
        let connection = Self.connection()
        connection.send("GET / HTTP/1.1\r\n")
        connection.drain()
        connection.pass(.seconds(9))
        connection.send("Host: a\r\n\r\n")

        #expect(connection.statuses == [200])
        #expect(connection.received.contains("Connection: close"))
    }

    @Test("A task that runs when the server drains keeps its own timeout, and its answer is the last")
    func taskWhileDraining() {
        let connection = TestConnection { _ in .later(context: 0) { text("late") } }
        connection.send(get("/"))
        connection.drain()
        connection.pass(.seconds(59))
        connection.respond(text("late"))

        #expect(connection.statuses == [200])
        #expect(connection.received.contains("Connection: close"))
        #expect(connection.changes(at: .milliseconds(500), \.isClosed) == [false, true])
    }

    @Test("Draining shortens the remaining timeouts of a closing connection")
    func closingWhileDraining() {
        let connection = Self.connection()
        connection.send(Self.last)
        connection.drain()
        #expect(connection.changes(at: .milliseconds(500), \.isClosed) == [false, true])

        let slow = Self.connection()
        slow.stopTaking(after: .max - 1)
        slow.send(Self.last)
        slow.pass(.seconds(2))
        slow.drain()
        // The kernel continues to send the rest.
        #expect(slow.changes(at: .seconds(2), \.isClosed) == [false, true])
        #expect(!slow.isReset && slow.rejections.isEmpty)
    }
}
