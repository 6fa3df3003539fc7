// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Holds tasks until it is opened, and reports when the first has arrived, without sleeping.
public final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var hasArrival = false
        var passing: [CheckedContinuation<Void, Never>] = []
        var watching: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    public init() {}

    /// Waits until the gate is open; cancellation does not end the wait.
    public func passage() async {
        await withCheckedContinuation { continuation in
            let (watchers, isOpen) = state.withLock { state in
                state.hasArrival = true
                defer { state.watching = [] }
                if !state.isOpen { state.passing.append(continuation) }
                return (state.watching, state.isOpen)
            }
            for watcher in watchers { watcher.resume() }
            if isOpen { continuation.resume() }
        }
    }

    /// Waits until a task has arrived at the gate.
    public func arrival() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if !state.hasArrival { state.watching.append(continuation) }
                return state.hasArrival
            }
            if isThere { continuation.resume() }
        }
    }

    /// Opens the gate, now and later.
    public func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.passing = [] }
            return state.passing
        }
        for continuation in waiting { continuation.resume() }
    }
}
