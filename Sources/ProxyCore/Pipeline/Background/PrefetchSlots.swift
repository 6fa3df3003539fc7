// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Bounds how many images are prefetched from their sources at the same time: a worker that is busy with one is not taken
/// away when a client's job comes. First come, first served.
package final class PrefetchSlots: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    /// - Parameter count: at least one.
    package init(count: Int) {
        state = Mutex(State(free: max(1, count)))
    }

    /// Runs work in a slot; waits for one first.
    ///
    /// Cancelling the caller does not end the wait; jobs that hold slots are cancelled at the same time.
    func with<Value: Sendable, Failure: Error>(
        _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        await enter()
        defer { leave() }
        return try await work()
    }

    private func enter() async {
        await withCheckedContinuation { continuation in
            let mayEnter = state.withLock { state in
                guard state.free == 0 else {
                    state.free -= 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if mayEnter { continuation.resume() }
        }
    }

    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
