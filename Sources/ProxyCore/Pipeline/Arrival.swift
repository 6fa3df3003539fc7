// SPDX-License-Identifier: Apache-2.0

import Rendering
import Synchronization

/// What can be followed of an image that is being made: the fetch whose bytes may go out while they arrive, if any.
///
/// The flight tells of it; its passengers wait for that, or for the flight's end. Safe from any task.
final class Arrival: Sendable {
    private struct Waiter {
        let waitsForEnd: Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var fetch: OriginalFetch?
        var isOver = false
        var lastWaiter: UInt64 = 0
        /// As many as passengers of the flight.
        var waiters: [UInt64: Waiter] = [:]

        /// Takes out those who have what they wait for.
        mutating func takeReady() -> [Waiter] {
            let ready = waiters.filter { isOver || !$0.value.waitsForEnd }
            for id in ready.keys { waiters[id] = nil }
            return Array(ready.values)
        }
    }

    private let state = Mutex(State())
    /// Who waits for the image.
    let interest: RenderInterest

    /// Whether the origin was asked, as the request that begins notes it.
    let forwarding = FetchContext.current.forwarding

    /// - Parameter interest: that of the client that begins.
    init(interest: RenderInterest = RenderInterest()) {
        self.interest = interest
    }

    // MARK: - The flight's side

    /// Tells the passengers as soon as the bytes of `fetch` may go out.
    func follow(_ fetch: OriginalFetch) {
        // Weak, since the fetch keeps this until it arrives, which it may never do.
        fetch.whenArriving { [self, weak fetch] in
            change { if !$0.isOver { $0.fetch = fetch } }
        }
    }

    /// The flight has its outcome: nothing is followed any more.
    func end() {
        change { state in
            state.isOver = true
            state.fetch = nil
        }
    }

    private func change(_ change: (inout State) -> Void) {
        let ready = state.withLock { state in
            change(&state)
            return state.takeReady()
        }
        for waiter in ready { waiter.continuation.resume() }
    }

    // MARK: - The passengers' side

    /// Waits for the fetch whose bytes may go out; nil at the flight's end, or when the waiting task is cancelled.
    func fetch() async -> OriginalFetch? {
        await wait(as: newWaiterID(), untilEnd: false)
        return Task.isCancelled ? nil : state.withLock(\.fetch)
    }

    /// Waits for the flight's end, but no longer than `time`.
    func end(within time: Duration) async {
        let id = newWaiterID()
        let waiting = Task { await wait(as: id, untilEnd: true) }
        let alarm = Task {
            // Lost: that the alarm was called off.
            try? await Task.sleep(for: time)
            waiting.cancel()
        }
        await withTaskCancellationHandler {
            await waiting.value
        } onCancel: {
            waiting.cancel()
        }
        alarm.cancel()
    }

    private func newWaiterID() -> UInt64 {
        state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
    }

    private func wait(as id: UInt64, untilEnd waitsForEnd: Bool) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.isOver || !waitsForEnd && state.fetch != nil { return true }
                    state.waiters[id] = Waiter(waitsForEnd: waitsForEnd, continuation: continuation)
                    return false
                }
                if isOver { return continuation.resume() }
                // The handler below may have run before the lines above.
                if Task.isCancelled { dismiss(id) }
            }
        } onCancel: {
            dismiss(id)
        }
    }

    private func dismiss(_ id: UInt64) {
        state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume()
    }
}
