// SPDX-License-Identifier: Apache-2.0

internal import HTTPServer
import Synchronization

/// One reader's stream of events. It stores one event: a newer one replaces what the reader has not taken.
final class EventStream: HTTPBodyStream {
    private struct State {
        /// What is sent before the first event.
        var beginning: [UInt8] = []
        /// The event that is to be sent next.
        var unsent: [UInt8]?
        /// Whether there has been an event.
        var hasEvent = false
        /// Whether nothing follows.
        var isComplete = false
        var wake: (@Sendable () -> Void)?

        mutating func takeWake() -> (@Sendable () -> Void)? {
            defer { wake = nil }
            return wake
        }
    }

    private let state: Mutex<State>
    private let leave: @Sendable () -> Void

    /// - Parameters:
    ///   - beginning: what the reader is sent before the first event.
    ///   - leave: called when no connection has the stream any more.
    init(_ beginning: [UInt8], leave: @escaping @Sendable () -> Void) {
        state = Mutex(State(beginning: beginning))
        self.leave = leave
    }

    deinit { leave() }

    /// Sends an event, in place of one that the reader has not taken.
    /// - Parameter onlyIfFirst: whether it is the event that a topic had when the stream began: a newer one stays.
    func send(_ bytes: [UInt8], isLast: Bool, onlyIfFirst: Bool = false) {
        let wake = state.withLock { state -> (@Sendable () -> Void)? in
            guard !state.isComplete, !(onlyIfFirst && state.hasEvent) else { return nil }
            (state.unsent, state.hasEvent, state.isComplete) = (bytes, true, isLast)
            return state.takeWake()
        }
        wake?()
    }

    /// Sends a comment if nothing else waits.
    func beat() {
        let wake = state.withLock { state -> (@Sendable () -> Void)? in
            guard !state.isComplete, state.unsent == nil else { return nil }
            state.unsent = ServerSentEvent.heartBeat
            return state.takeWake()
        }
        wake?()
    }

    /// Ends the stream after what waits.
    func end() {
        let wake = state.withLock { state in
            state.isComplete = true
            return state.takeWake()
        }
        wake?()
    }

    /// An event is one piece, however long; the producers of events bound them.
    func next(atMost count: Int, orWake wake: @escaping @Sendable () -> Void) -> HTTPBodyStep {
        state.withLock { state in
            if let bytes = state.unsent {
                defer { (state.beginning, state.unsent) = ([], nil) }
                return .piece(.bytes(state.beginning + bytes))
            }
            if state.isComplete { return .end }
            state.wake = wake
            return .nothingYet
        }
    }
}
