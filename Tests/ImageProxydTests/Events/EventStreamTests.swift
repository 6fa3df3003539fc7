// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import Answering
@testable import HTTPServer
@testable import ImageProxyd

@Suite("Streams of events")
struct EventStreamTests {
    /// A topic whose state a test sets.
    private final class Topic: EventTopic {
        private struct State {
            var text = "start"
            var hasChanged = false
            var isOver = false
        }

        private let state = Mutex(State())
        /// How often its state was requested.
        let asked = Observed(0)

        func become(_ text: String, isOver: Bool = false) {
            state.withLock { $0 = State(text: text, hasChanged: true, isOver: isOver) }
        }

        func present() -> EventStep { state.withLock { Self.step($0) } }

        func next() -> EventStep {
            defer { asked.update { $0 += 1 } }
            return state.withLock { state in
                defer { state.hasChanged = false }
                return state.hasChanged || state.isOver ? Self.step(state) : .unchanged
            }
        }

        private static func step(_ state: State) -> EventStep {
            let event = ServerSentEvent(name: "state", data: state.text)
            return state.isOver ? .last(event) : .event(event)
        }
    }

    /// A server whose every answer is a stream of the topic.
    private final class Events: RequestHandling {
        let topic = Topic()
        let time = SteppedTime()
        let streams: EventStreams
        /// The numbers of bytes of the answers that have ended.
        let ended = Observed<[Int]>([])

        init() { streams = EventStreams(clock: time) }

        func answer(_ request: HTTPRequest) -> HTTPAnswer {
            .later(context: 0) { [streams, topic] in
                do throws(AdminFailure) {
                    return try streams.answer(with: topic)
                } catch {
                    return error.response
                }
            }
        }

        func didFinish(_ exchange: HTTPExchange) {
            ended.update { $0.append(exchange.bodyBytesSent) }
        }

        /// A second passes, and the topic is asked.
        func second() async {
            let before = topic.asked.value
            await time.advance(by: .seconds(1), when: 1)
            await topic.asked.wait { $0 > before }
        }
    }

    private struct Service {
        let events = Events()
        let folder: TemporaryDirectory
        let server: HTTPServer
        var path: String { folder.path + "/s.sock" }

        /// - Parameter time: by which the server's timeouts pass; the system's by default.
        init(by time: ManualTime? = nil) throws {
            var configuration = HTTPServer.Configuration()
            // The events come when the test's time advances, which many other tests may delay.
            configuration.idleTimeout = .seconds(600)
            configuration.requestTimeout = .seconds(600)
            configuration.writeTimeout = .seconds(600)
            if time != nil { configuration.checkInterval = .milliseconds(1) }
            folder = try TemporaryDirectory()
            server = try HTTPServer(
                configuration: configuration, handler: events,
                clock: time.map { time in LoopClock { time.nanoseconds } } ?? .system)
            _ = try server.listen(on: [.unix(path: folder.path + "/s.sock")])
            try server.start()
        }

        /// Returns when the loops have let go of the answers that have ended.
        func loopsAreDone() async {
            for index in 0..<server.loopCount { await server.ping(loop: index) }
        }

        func client(_ head: String = "GET / HTTP/1.1\r\nHost: a\r\n\r\n") throws -> RawHTTPClient {
            let client = try RawHTTPClient(unixSocket: path)
            try client.send(head)
            return client
        }
    }

    /// The next events; nil at the end of the stream.
    private static func text(_ client: RawHTTPClient) async throws -> String? {
        try await onThread { try client.chunk().map { String(decoding: $0, as: UTF8.self) } }
    }

    private static func head(_ client: RawHTTPClient) async throws -> RawHTTPClient.Answer {
        try await onThread { try client.head() }
    }

    private static func answer(of service: Service) async throws -> RawHTTPClient.Answer {
        let client = try service.client()
        return try await onThread { try client.answer() }
    }

    /// A reader who has got the first event.
    private static func reader(of service: Service) async throws -> RawHTTPClient {
        let client = try service.client()
        _ = (try await head(client), try await text(client))
        return client
    }

    @Test(
        "A reader gets the present state at once, a new one when it changes, and the end after the last one")
    func events() async throws {
        let service = try Service()
        let (events, topic) = (service.events, service.events.topic)
        let client = try service.client()

        let head = try await Self.head(client)
        let first = try await Self.text(client)
        await events.second()
        topic.become("two\nlines")
        await events.second()
        let second = try await Self.text(client)
        topic.become("done", isOver: true)
        await events.second()
        let last = try await Self.text(client)

        #expect(head.status == 200 && head["Content-Type"] == "text/event-stream")
        #expect(head["Cache-Control"] == "no-store" && head["X-Accel-Buffering"] == "no")
        #expect(first == "retry: 2000\n\nevent: state\ndata: start\n\n")
        #expect(second == "event: state\ndata: two\ndata: lines\n\n")
        #expect(last == "event: state\ndata: done\n\n")
        #expect(try await Self.text(client) == nil)
    }

    @Test("A topic's state is requested once for all its readers, and not at all without one")
    func sharing() async throws {
        let service = try Service()
        let (events, topic) = (service.events, service.events.topic)
        let clients = [try await Self.reader(of: service), try await Self.reader(of: service)]

        await events.second()
        let asked = topic.asked.value
        for client in clients { client.hangUp() }
        await events.ended.wait { $0.count == 2 }
        await service.loopsAreDone()
        // Its sleep is cancelled: no task waits for the time.
        await events.time.advance(by: .seconds(5), when: 0)

        #expect(asked == 1 && topic.asked.value == 1)
        #expect(events.streams.count == 0)
    }

    @Test("A stream without news has a comment every 15 seconds")
    func heartBeat() async throws {
        let service = try Service()
        let client = try await Self.reader(of: service)

        for _ in 1...15 { await service.events.second() }

        #expect(try await Self.text(client) == ":\n\n")
    }

    @Test("HEAD is answered without events, and a client of HTTP/1.0 reads them until the connection ends")
    func otherClients() async throws {
        let service = try Service()
        let head = try await Self.head(service.client("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"))
        let old = try service.client("GET / HTTP/1.0\r\n\r\n")
        let oldHead = try await Self.head(old)

        service.events.topic.become("done", isOver: true)
        await service.events.second()
        let text = String(decoding: try await onThread { try old.receiveAll() }, as: UTF8.self)

        #expect(head.status == 200 && head["Content-Type"] == "text/event-stream")
        #expect(oldHead["Transfer-Encoding"] == nil)
        #expect(text == "retry: 2000\n\nevent: state\ndata: start\n\nevent: state\ndata: done\n\n")
    }

    @Test("Only so many streams are open at once; one that ends makes way for another")
    func bound() async throws {
        let service = try Service()
        let clients = try (0..<EventStreams.maxStreams).map { _ in try service.client() }
        for client in clients { _ = try await Self.head(client) }

        let refused = try await Self.answer(of: service)
        clients[0].hangUp()
        await service.events.ended.wait { $0.count == 2 }
        await service.loopsAreDone()
        let accepted = try await Self.head(service.client())

        #expect(refused.status == 503 && refused.code == "too_many_streams")
        #expect(accepted.status == 200)
    }

    @Test("A reader that takes nothing is cut")
    func stuckReader() async throws {
        let time = ManualTime()
        let service = try Service(by: time)
        let events = service.events
        let client = try await Self.reader(of: service)

        // More than the socket's buffers hold.
        events.topic.become(String(repeating: "x", count: 8 << 20))
        await events.second()
        // The first of it is there: the rest waits for the client.
        try await onThread { while client.isQuiet(forMilliseconds: 1_000) {} }
        while events.ended.value.isEmpty {
            time.advance(by: .seconds(600))
            await service.loopsAreDone()
        }
        await service.loopsAreDone()

        #expect(events.ended.value[0] < 4 << 20)
        #expect(events.streams.count == 0)
        client.hangUp()
    }

    @Test("A reader that is slow misses states, and gets the newest")
    func slowReader() {
        let stream = EventStream(Array("begin ".utf8), leave: {})
        for text in ["one", "two", "three"] { stream.send(Array(text.utf8), isLast: false) }
        // What a reader would have had first is older.
        stream.send(Array("zero".utf8), isLast: false, onlyIfFirst: true)
        stream.beat()

        guard case .piece(.bytes(let bytes)) = stream.next(atMost: 1, orWake: {}),
            case .nothingYet = stream.next(atMost: 1, orWake: {})
        else {
            Issue.record("one piece was expected")
            return
        }
        #expect(String(decoding: bytes, as: UTF8.self) == "begin three")
    }

    @Test("Ended streams have all that was sent; a closed service accepts no more")
    func ending() async throws {
        let service = try Service()
        let streams = service.events.streams
        let client = try await Self.reader(of: service)

        streams.end()
        let isOver = try await Self.text(client) == nil
        let next = try await Self.reader(of: service)
        streams.close()

        #expect(isOver)
        #expect(try await Self.text(next) == nil)
        #expect(try await Self.answer(of: service).status == 503)
    }
}
