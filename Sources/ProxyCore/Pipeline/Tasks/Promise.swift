// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A value that is set once: read, observed or awaited. Safe from any thread.
package final class Promise<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var lastWaiter: UInt64 = 0
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var observers: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    /// Not set yet.
    package init() {}

    /// The value; nil as long as it is not set.
    package var value: Value? { state.withLock(\.value) }

    /// Sets the value, unless it is set already.
    /// - Returns: whether a waiter or an observer was notified.
    @discardableResult
    package func set(_ value: Value) -> Bool {
        let (waiters, observers) = state.withLock { state in
            if state.value == nil { state.value = value }
            defer { (state.waiters, state.observers) = ([:], []) }
            return (state.waiters, state.observers)
        }
        for waiter in waiters.values { waiter.resume() }
        for observer in observers { observer() }
        return !waiters.isEmpty || !observers.isEmpty
    }

    /// Calls `observer` once the value is set: later, or now.
    func whenSet(_ observer: @escaping @Sendable () -> Void) {
        let isSet = state.withLock { state in
            if state.value == nil { state.observers.append(observer) }
            return state.value != nil
        }
        if isSet { observer() }
    }

    /// Waits for the value; nil when the waiting task is cancelled before it is set.
    @discardableResult
    func wait() async -> Value? {
        if let value { return value }
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isSet = state.withLock { state in
                    if state.value == nil { state.waiters[id] = continuation }
                    return state.value != nil
                }
                if isSet { return continuation.resume() }
                // The handler below may have run before the lines above.
                if Task.isCancelled { stopWaiting(id) }
            }
        } onCancel: {
            stopWaiting(id)
        }
        return value
    }

    /// Waits until the value is set, but no longer than `time`.
    package func wait(atMost time: Duration, by clock: some Clock<Duration> = ContinuousClock()) async {
        await withTaskGroup { group in
            group.addTask { _ = await self.wait() }
            // Ignored: that the sleep was cut short.
            group.addTask { try? await clock.sleep(for: time) }
            _ = await group.next()
            group.cancelAll()
        }
    }

    private func stopWaiting(_ id: UInt64) {
        state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
    }
}
