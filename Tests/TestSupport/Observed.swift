// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A value that threads change and tests wait on: for a state, not for time to pass.
public final class Observed<Value: Sendable>: Sendable {
    private struct Waiter {
        let id: Int
        let isMet: @Sendable (Value) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var value: Value
        var waiters: [Waiter] = []
        var dismissed: Set<Int> = []
        var lastID = 0
    }

    private let state: Mutex<State>

    /// Starts with `value`.
    public init(_ value: Value) {
        state = Mutex(State(value: value))
    }

    /// The value now.
    public var value: Value { state.withLock { $0.value } }

    /// Changes the value and resumes all waiters whose condition now holds.
    @discardableResult
    public func update<Result: Sendable>(_ change: (inout Value) -> Result) -> Result {
        let (result, ready) = state.withLock { state in
            let result = change(&state.value)
            let value = state.value
            let ready = state.waiters.filter { $0.isMet(value) }
            // By their numbers: a condition may depend on more than the value, and hold only now.
            let numbers = Set(ready.map(\.id))
            state.waiters.removeAll { numbers.contains($0.id) }
            return (result, ready)
        }
        for waiter in ready { waiter.continuation.resume() }
        return result
    }

    /// Waits until `condition` holds, and returns the value that satisfied it or a later one.
    ///
    /// Cancelling the task ends the wait, whatever the value.
    @discardableResult
    public func wait(until condition: @escaping @Sendable (Value) -> Bool) async -> Value {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if condition(state.value) || state.dismissed.remove(id) != nil { return true }
                    state.waiters.append(Waiter(id: id, isMet: condition, continuation: continuation))
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state -> Waiter? in
                guard let index = state.waiters.firstIndex(where: { $0.id == id }) else {
                    state.dismissed.insert(id)
                    return nil
                }
                return state.waiters.remove(at: index)
            }
            waiter?.continuation.resume()
        }
        return value
    }
}
