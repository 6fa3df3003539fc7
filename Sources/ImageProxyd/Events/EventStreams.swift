// SPDX-License-Identifier: Apache-2.0

import Answering
internal import HTTPServer
import Observability
import Synchronization

/// The streams of events to operators: bounds their number, requests the state of their topics once a second, and ends them.
///
/// Without a reader it does nothing. A reader that takes nothing costs one event here and what its socket's buffer holds;
/// the server cuts it after `writeTimeout`. Safe from any thread.
final class EventStreams: Sendable {
    /// The maximum number of streams at once: half of the admin listener's connections.
    static let maxStreams = 32
    /// That, for a client.
    static let bound = "at most \(maxStreams) are open at a time, and none while the daemon ends"
    /// The time between two questions to a topic.
    static let interval = Duration.seconds(1)
    /// The number of intervals without an event after which a comment is sent: well below the server's timeout for the
    /// next bytes of a body, and those of usual proxies.
    private static let quietIntervals = 15

    /// A topic and those who read it.
    private struct Subscribers {
        let topic: any EventTopic
        var streams: [Int: WeakStream] = [:]
        /// The number of intervals since the last event.
        var quiet = 0
    }

    private struct WeakStream {
        weak var stream: EventStream?
    }

    private struct State {
        var subscribers: [ObjectIdentifier: Subscribers] = [:]
        /// The number of streams, also of those that begin.
        var count = 0
        var lastID = 0
        var isClosed = false
        var ticker: Task<Void, Never>?
    }

    private let state = Mutex(State())
    private let clock: any _Concurrency.Clock<Duration>

    init(clock: any _Concurrency.Clock<Duration>) {
        self.clock = clock
    }

    deinit { state.withLock(\.ticker)?.cancel() }

    /// The number of streams that are open.
    var count: Int { state.withLock(\.count) }

    /// A stream of a topic's events for one more reader.
    /// - Throws: `tooManyStreams`, also when the daemon shuts down.
    func answer(with topic: any EventTopic) throws(AdminFailure) -> HTTPResponse {
        guard let id = enter() else { throw .tooManyStreams }
        let name = ObjectIdentifier(topic)
        let stream = EventStream(Self.beginning, leave: { [weak self] in self?.leave(id, name) })
        // In this order: what happens between the two is sent by the ticker.
        admit(stream, id, to: topic)
        let step = topic.present()
        stream.send(step.bytes, isLast: step.isLast, onlyIfFirst: true)
        var response = HTTPResponse(status: .ok)
        response.fields.append(.contentType, text: "text/event-stream")
        response.fields.append(.cacheControl, text: "no-store")
        response.fields.append(.contentTypeOptions, text: "nosniff")
        // For nginx, which else collects the events.
        response.fields.append(.accelBuffering, text: "no")
        response.body = .stream(stream, length: nil)
        response.context = ExchangeContext(.admin).packed
        return response
    }

    /// Ends all streams after what they have to send; their readers may come back.
    func end() {
        for stream in streams() { stream.end() }
    }

    /// Ends all streams, and accepts no more.
    func close() {
        let streams = state.withLock { state in
            state.isClosed = true
            return Self.streams(of: state)
        }
        for stream in streams { stream.end() }
    }

    /// Readers come back two seconds after a stream has ended, or broken.
    private static let beginning = Array("retry: 2000\n\n".utf8)

    // MARK: - Readers

    private func enter() -> Int? {
        state.withLock { state in
            guard !state.isClosed, state.count < Self.maxStreams else { return nil }
            state.count += 1
            state.lastID += 1
            return state.lastID
        }
    }

    private func admit(_ stream: EventStream, _ id: Int, to topic: any EventTopic) {
        let isClosed = state.withLock { state in
            state.subscribers[ObjectIdentifier(topic), default: Subscribers(topic: topic)]
                .streams[id] = WeakStream(stream: stream)
            if state.ticker == nil { state.ticker = ticker() }
            return state.isClosed
        }
        if isClosed { stream.end() }
    }

    private func leave(_ id: Int, _ topic: ObjectIdentifier) {
        // Released after the lock: the topic, and the ticker.
        let released = state.withLock { state -> (Subscribers?, Task<Void, Never>?) in
            state.count -= 1
            state.subscribers[topic]?.streams[id] = nil
            guard state.subscribers[topic]?.streams.isEmpty == true else { return (nil, nil) }
            let removed = state.subscribers.removeValue(forKey: topic)
            guard state.subscribers.isEmpty else { return (removed, nil) }
            defer { state.ticker = nil }
            return (removed, state.ticker)
        }
        released.1?.cancel()
    }

    private func streams() -> [EventStream] { state.withLock { Self.streams(of: $0) } }

    private static func streams(of state: borrowing State) -> [EventStream] {
        state.subscribers.values.flatMap { $0.streams.values.compactMap(\.stream) }
    }

    // MARK: - Events

    /// Ticks at each interval, until the task is cancelled.
    private func ticker() -> Task<Void, Never> {
        Task { [weak self, clock] in
            while !Task.isCancelled {
                do {
                    try await clock.sleep(for: Self.interval)
                } catch {
                    return
                }
                self?.tick()
            }
        }
    }

    /// Requests the state of each topic that has readers.
    private func tick() {
        for topic in state.withLock({ $0.subscribers.values.map(\.topic) }) {
            let step = topic.next()
            let (readers, isQuiet) = readers(of: topic, after: step)
            switch step {
            case .unchanged where isQuiet: for reader in readers { reader.beat() }
            case .unchanged: break
            case .event, .last:
                let bytes = step.bytes
                for reader in readers { reader.send(bytes, isLast: step.isLast) }
            }
        }
    }

    /// Those who read a topic, and whether a comment is due.
    private func readers(of topic: any EventTopic, after step: EventStep) -> ([EventStream], isQuiet: Bool) {
        state.withLock { state in
            guard var subscribers = state.subscribers[ObjectIdentifier(topic)] else { return ([], false) }
            if case .unchanged = step { subscribers.quiet += 1 } else { subscribers.quiet = 0 }
            let isQuiet = subscribers.quiet >= Self.quietIntervals
            if isQuiet { subscribers.quiet = 0 }
            state.subscribers[ObjectIdentifier(topic)] = subscribers
            return (subscribers.streams.values.compactMap(\.stream), isQuiet)
        }
    }
}

extension EventStep {
    fileprivate var isLast: Bool {
        if case .last = self { true } else { false }
    }

    fileprivate var bytes: [UInt8] {
        switch self {
        case .event(let event), .last(let event): event.bytes
        case .unchanged: []
        }
    }
}

extension FieldName {
    /// nginx's own field, by which an answer turns off its buffering.
    fileprivate static let accelBuffering = FieldName(literal: "X-Accel-Buffering")
}
