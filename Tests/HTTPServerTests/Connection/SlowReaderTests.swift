// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import HTTPServer

@Suite("The timeout for reading an answer")
struct SlowReaderTests {
    private static let large = [UInt8](repeating: 0x61, count: 1 << 20)
    /// The octets that `minSendRate` gives for one `writeTimeout`.
    private static let least = 256 * 60

    private static func connection(_ change: (inout HTTPServer.Configuration) -> Void = { _ in })
        -> TestConnection
    {
        var configuration = HTTPServer.Configuration()
        change(&configuration)
        return TestConnection(configuration) { request in
            guard request.target == "/large" else {
                return request.target == "/later" ? .later(context: 0) { text("late") } : .now(text("small"))
            }
            var response = HTTPResponse(status: .ok)
            response.body = .bytes(large)
            return .now(response)
        }
    }

    @Test(
        "A client that does not read its answer is cut after one period, and counted",
        arguments: ["memory", "file"])
    func neverReading(source: String) throws {
        let file = try AnonymousFile(Self.large)
        let connection = TestConnection { _ in
            var response = HTTPResponse(status: .ok)
            response.body = source == "file" ? file.body(0..<file.length) : .bytes(Self.large)
            return .now(response)
        }
        connection.stopTaking(after: 1_000)
        connection.send(get("/large"))

        #expect(connection.changes(at: .seconds(60), \.isClosed) == [false, true])

        #expect(connection.rejections == [.writeTimeout])
        #expect(connection.isReset)
        #expect(connection.exchanges.map(\.wasCut) == [true])
        #expect((1..<1_000).contains(connection.exchanges.first?.bodyBytesSent ?? 0))
    }

    @Test(
        "A client that reads in two periods what the lowest rate gives for one is kept; one octet less cuts it",
        arguments: [0, 1])
    func lowestRate(missing: Int) {
        let connection = Self.connection()
        connection.stopTaking(after: 200_000)
        connection.send(get("/large"))
        for _ in 0..<5 where !connection.isClosed {
            connection.pass(.seconds(30))
            connection.take(1)
            connection.pass(.seconds(30))
            #expect(!connection.isClosed)
            connection.take(Self.least - 1 - missing)
            connection.pass(.seconds(60))
        }
        #expect(connection.isClosed == (missing == 1))
    }

    @Test("Without a lowest rate a single octet is enough")
    func anyRate() {
        let connection = Self.connection { $0.minSendRate = 0 }
        connection.stopTaking(after: 1_000)
        connection.send(get("/large"))
        for _ in 0..<10 {
            connection.pass(.seconds(30))
            connection.take(1)
            connection.pass(.seconds(30))
            #expect(!connection.isClosed)
        }
    }

    @Test("Bytes that the socket takes and the client's host does not acknowledge do not count as read")
    func acknowledgements() {
        let connection = Self.connection()
        connection.stopTaking(after: 500_000)
        connection.send(get("/large"))

        #expect(connection.changes(at: .seconds(60), \.isClosed) == [false, true])
        #expect(connection.rejections == [.writeTimeout])
    }

    @Test(
        "For 10,000 pipelined requests of a client that never reads, few answers and bytes are made ahead",
        arguments: [(16, 64), (65_536, 4), (8 << 20, 1)])
    func neverReadingFlood(size: Int, most: Int) {
        let made = Observed(0)
        let body = HTTPBody.bytes([UInt8](repeating: 0, count: size))
        let connection = TestConnection { _ in
            made.update { $0 += 1 }
            var response = HTTPResponse(status: .ok)
            response.body = body
            return .now(response)
        }
        connection.stopTaking()
        connection.send(String(repeating: get("/"), count: 10_000))
        #expect(made.value == most)
        connection.pass(.seconds(60))

        #expect(connection.isClosed && connection.rejections == [.writeTimeout])
        #expect(connection.exchanges.count == most && connection.exchanges.allSatisfy(\.wasCut))
        #expect(made.value == most)
    }

    @Test("Once a slow client has read its answer, the timeout does not continue for the next one")
    func writeTimeoutEnds() {
        let connection = Self.connection { $0.requestTimeout = .seconds(86_400) }
        connection.stopTaking(after: 1_000)
        connection.send(get("/large") + get("/later"))
        #expect(!connection.hasTask)
        connection.pass(.seconds(59))
        connection.takeAll()
        #expect(connection.hasTask)
        for _ in 0..<5 { connection.pass(.seconds(60)) }

        connection.respond(text("late"))

        #expect(connection.statuses == [200, 200])
        #expect(connection.rejections.isEmpty)
    }

    @Test("The timeout for the next request begins when the client has read its answer")
    func idleBehindSlowAnswer() {
        let connection = Self.connection()
        connection.stopTaking(after: 1_000)
        connection.send(get("/large"))
        for _ in 0..<10 {
            connection.pass(.seconds(30))
            connection.take(Self.least)
        }
        connection.takeAll()
        #expect(connection.changes(at: .seconds(75), \.isClosed) == [false, true])
        #expect(connection.rejections.isEmpty)
    }

    @Test("A client that reads nothing of what was sent is a slow client, however slow the body")
    func slowClientOfStream() {
        let piece = [UInt8](repeating: 0x61, count: 64 << 10)
        let body = TestBody(.piece(.bytes(piece)))
        let connection = TestConnection { _ in .now(body.answer()) }
        connection.stopTaking(after: 1_000)
        connection.send(get("/"))

        #expect(connection.changes(at: .seconds(60), \.isClosed) == [false, true])

        #expect(connection.rejections == [.writeTimeout])
        #expect(connection.exchanges.count == 1 && connection.exchanges.first?.wasCut == true)
        #expect((1..<1_000).contains(connection.exchanges.first?.bodyBytesSent ?? 0))
        // No other piece is requested while the first is there.
        #expect(body.asked == 1)
    }

    @Test(
        "An idle connection is kept while the client's host acknowledges its last answer at the lowest rate")
    func idleUnacknowledged() {
        let connection = Self.connection()
        connection.stopTaking(after: .max - 1)
        connection.send(get("/large"))
        #expect(connection.exchanges.map(\.wasCut) == [false])
        connection.pass(.seconds(75))
        for _ in 0..<10 {
            connection.take(Self.least)
            connection.pass(.seconds(60))
            #expect(!connection.isClosed)
        }
        connection.take(Self.least - 1)

        #expect(connection.changes(at: .seconds(60), \.isClosed) == [false, true])
        #expect(connection.rejections == [.writeTimeout])
        #expect(connection.isReset)
    }

    @Test("An idle connection gets the idle timeout again once its client has read everything")
    func idleAcknowledged() {
        let connection = Self.connection()
        connection.stopTaking(after: .max - 1)
        connection.send(get("/large"))
        connection.pass(.seconds(75))
        connection.takeAll()
        connection.pass(.seconds(60))

        #expect(connection.changes(at: .seconds(75), \.isClosed) == [false, true])
        #expect(connection.rejections.isEmpty && !connection.isReset)
    }
}
