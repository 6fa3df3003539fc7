// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import HTTPServer

/// Every order of some events, up to a length: any actions of a client, a handler, the kernel and the clock.
@Suite("Every order of events")
struct EventOrderTests {
    enum Event: CaseIterable {
        case request, beginHead, completeHead, requestForTask, contentHead, content, requestForStream
        case respond, streamPiece, streamEnd
        case stopTaking, takeAll, endClientSide, leave
        case shortWait, longWait, drain
    }

    /// A connection, and what an event needs to know of earlier ones.
    private final class Run {
        let connection: TestConnection
        private let asked = Observed(0)
        private let body: Observed<TestBody?>

        init() {
            let (asked, body) = (asked, Observed<TestBody?>(nil))
            self.body = body
            connection = TestConnection { request in
                asked.update { $0 += 1 }
                switch request.target {
                case "/task": return .later(context: 5) { text("late") }
                case "/stream":
                    let stream = TestBody(.text("first"))
                    body.update { $0 = stream }
                    return .now(stream.answer())
                default:
                    var response = text("now")
                    response.context = 5
                    return .now(response)
                }
            }
        }

        /// How many requests the handler has received.
        var requests: Int { asked.value }

        func happen(_ event: Event) {
            switch event {
            case .request: connection.send(get("/"))
            case .beginHead: connection.send("GET / HTTP/1.1\r\n")
            case .completeHead: connection.send("Host: a\r\n\r\n")
            case .requestForTask: connection.send(get("/task"))
            case .contentHead: connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx")
            case .content: connection.send("y")
            case .requestForStream: connection.send(get("/stream"))
            case .respond:
                var response = text("late")
                response.context = 5
                connection.respond(response)
            case .streamPiece: give(.text("piece"))
            case .streamEnd: give(.end)
            case .stopTaking: connection.stopTaking(after: 20)
            case .takeAll: connection.takeAll()
            case .endClientSide: connection.endClientSide()
            case .leave: connection.leave()
            case .shortWait: connection.pass(.seconds(2))
            case .longWait: connection.pass(.seconds(60))
            case .drain: connection.drain()
            }
        }

        private func give(_ step: HTTPBodyStep) {
            body.value?.arrive(step)
            connection.wakeStream()
        }
    }

    /// A violation of what always holds.
    private static func problem(_ run: Run) -> String? {
        let connection = run.connection
        let answers = connection.exchanges.count { $0.context == 5 }
        if connection.closings > 1 { return "closed twice" }
        if connection.isClosed != (connection.closings == 1) { return "not closed" }
        if connection.isClosed, connection.hasTask { return "a task without a client" }
        if answers > run.requests { return "an answer without a request" }
        if connection.isClosed, answers != run.requests { return "a request without a report" }
        return nil
    }

    /// Applies all events of a sequence; returns the first problem.
    private static func run(_ events: [Event]) -> String? {
        let run = Run()
        for event in events {
            // A closed connection gets no events.
            if run.connection.isClosed { return problem(run) }
            run.happen(event)
            if let problem = problem(run) { return problem }
        }
        // No connection stays for ever, whatever it waits for: a client that does nothing more is cut or
        // closed.
        for _ in 0..<12 where !run.connection.isClosed { run.connection.pass(.seconds(75)) }
        return run.connection.isClosed ? problem(run) : "still open"
    }

    /// All sequences of this length of these events.
    private static func sequences(of events: [Event], length: Int) -> [[Event]] {
        guard length > 0 else { return [[]] }
        return sequences(of: events, length: length - 1).flatMap { start in events.map { start + [$0] } }
    }

    @Test(
        "In every order of events each request is reported once, each task ends, and each connection is closed once",
        arguments: [
            (Event.allCases, 3),
            ([.requestForTask, .respond, .stopTaking, .takeAll, .endClientSide, .longWait, .drain], 5),
            ([.requestForStream, .streamPiece, .streamEnd, .stopTaking, .takeAll, .leave, .longWait], 5),
        ])
    func sequences(events: [Event], length: Int) {
        let failures = Self.sequences(of: events, length: length).compactMap { events in
            Self.run(events).map { "\(events): \($0)" }
        }
        #expect(failures.isEmpty, "\(failures.count): \(failures.prefix(5))")
    }
}
