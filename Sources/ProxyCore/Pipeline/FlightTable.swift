// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// At most one producer for a key, however many callers wait (request collapsing).
///
/// The work runs in a task of its own, so a caller who leaves takes nobody down; when the last one leaves, the flight
/// can no longer be joined and its task is cancelled. `Progress` is there from the moment a flight begins, so that a
/// caller can follow the work while it goes on. Bounded by the callers: a flight without one is cancelled.
final class FlightTable<Key: Hashable & Sendable, Progress: Sendable, Output: Sendable>: Sendable {
    typealias Work = @Sendable (Progress) async throws(PipelineError) -> Output

    private let joinable = Mutex<[Key: Flight<Progress, Output>]>([:])

    /// The number of flights that can be joined.
    var count: Int { joinable.withLock { $0.count } }

    /// Takes a seat in the flight for `key`, starting one if none can be joined.
    ///
    /// Never suspends. The seat is given up when the last reference to it goes.
    /// - Parameter progress: made only when a flight begins, under the table's lock: must be a mere value or object.
    func join(_ key: Key, progress: @autoclosure () -> Progress, work: @escaping Work) -> Seat {
        let (flight, isLeader) = joinable.withLock { table in
            // A flight whose last passenger is just leaving refuses the seat; a new one takes its place.
            if let flight = table[key], flight.takeSeat() { return (flight, false) }
            let flight = Flight<Progress, Output>(progress: progress())
            table[key] = flight
            return (flight, true)
        }
        if isLeader {
            flight.depart(Task { await self.fly(flight, key, work) })
        }
        return Seat(table: self, key: key, flight: flight, isLeader: isLeader)
    }

    /// What can be followed of the flight of `key`, without a seat in it; nil when there is none.
    func progress(of key: Key) -> Progress? {
        joinable.withLock { $0[key]?.progress }
    }

    /// Keeps later callers from joining the flight of `key`; those aboard still get its outcome.
    func closeBoarding(_ key: Key) {
        _ = joinable.withLock { $0.removeValue(forKey: key) }
    }

    /// The same for every flight that `matches`; looks at each.
    func closeBoarding(_ matches: (Key) -> Bool) {
        joinable.withLock { table in
            for key in table.keys.filter(matches) { table[key] = nil }
        }
    }

    private func fly(_ flight: Flight<Progress, Output>, _ key: Key, _ work: Work) async {
        let outcome: Result<Output, PipelineError>
        do throws(PipelineError) {
            outcome = .success(try await work(flight.progress))
        } catch {
            outcome = .failure(error)
        }
        retire(flight, key)
        flight.land(outcome)
    }

    /// Keeps later callers from joining; those aboard still get their outcome.
    private func retire(_ flight: Flight<Progress, Output>, _ key: Key) {
        joinable.withLock { table in
            if table[key] === flight { table[key] = nil }
        }
    }

    /// One caller's place in a flight, given up when it goes away.
    final class Seat: Sendable {
        private let table: FlightTable
        private let flight: Flight<Progress, Output>

        /// What the flight is for.
        let key: Key

        /// Whether this caller started the flight; the others were collapsed into it.
        let isLeader: Bool

        /// What can be followed while the flight goes on.
        var progress: Progress { flight.progress }

        fileprivate init(table: FlightTable, key: Key, flight: Flight<Progress, Output>, isLeader: Bool) {
            self.table = table
            self.key = key
            self.flight = flight
            self.isLeader = isLeader
        }

        /// Calls `observer` once the flight has its outcome: later, or now; it may outlast the seat.
        func whenLanded(_ observer: @escaping @Sendable () -> Void) {
            flight.whenLanded(observer)
        }

        /// What the flight has come to; nil while it goes on.
        var outcome: Result<Output, PipelineError>? { flight.landed }

        deinit {
            guard flight.leaveSeat() else { return }
            table.retire(flight, key)
        }

        /// Waits for the flight's end, in as many tasks as share the seat; cancelling the caller's task ends the wait with `.clientLeft`.
        func output() async throws(PipelineError) -> Output {
            if let outcome { return try outcome.get() }
            let id = flight.newWaiterID()
            let outcome = await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    flight.wait(as: id, continuation)
                    // The handler below may have run before the line above.
                    if Task.isCancelled { flight.stopWaiting(id) }
                }
            } onCancel: {
                flight.stopWaiting(id)
            }
            return try outcome.get()
        }
    }
}

/// The state of one flight, behind its own lock. Taken after the table's lock, never before it.
private final class Flight<Progress: Sendable, Output: Sendable>: Sendable {
    typealias Waiter = CheckedContinuation<Result<Output, PipelineError>, Never>

    private struct State {
        var seats = 1
        var isAbandoned = false
        var task: Task<Void, Never>?
        var outcome: Result<Output, PipelineError>?
        var lastWaiter: UInt64 = 0
        var waiters: [UInt64: Waiter] = [:]
        var observers: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())
    let progress: Progress

    init(progress: Progress) {
        self.progress = progress
    }

    /// Remembers the task that does the work; cancels it if everybody has left meanwhile.
    func depart(_ task: Task<Void, Never>) {
        let isAbandoned = state.withLock { state in
            if state.outcome == nil { state.task = task }
            return state.isAbandoned
        }
        if isAbandoned { task.cancel() }
    }

    /// Adds a passenger; false when the last one has left already.
    func takeSeat() -> Bool {
        state.withLock { state in
            guard !state.isAbandoned else { return false }
            state.seats += 1
            return true
        }
    }

    /// Removes a passenger; true, and the work cancelled, when that was the last one.
    func leaveSeat() -> Bool {
        let (isLast, task) = state.withLock { state in
            state.seats -= 1
            guard state.seats == 0 else { return (false, Task<Void, Never>?.none) }
            state.isAbandoned = true
            return (true, state.task)
        }
        task?.cancel()
        return isLast
    }

    /// A name for a task that is about to wait.
    func newWaiterID() -> UInt64 {
        state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
    }

    /// Resumes `waiter` at the flight's end, or now when it has landed.
    func wait(as id: UInt64, _ waiter: Waiter) {
        let outcome = state.withLock { state in
            if state.outcome == nil { state.waiters[id] = waiter }
            return state.outcome
        }
        if let outcome { waiter.resume(returning: outcome) }
    }

    /// Ends one task's wait; the flight goes on.
    func stopWaiting(_ id: UInt64) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
        waiter?.resume(returning: .failure(.clientLeft))
    }

    /// What it has come to; nil while it goes on.
    var landed: Result<Output, PipelineError>? { state.withLock(\.outcome) }

    /// Calls `observer` at the flight's end, or now when it has landed.
    func whenLanded(_ observer: @escaping @Sendable () -> Void) {
        let outcome = state.withLock { state in
            if state.outcome == nil { state.observers.append(observer) }
            return state.outcome
        }
        if outcome != nil { observer() }
    }

    /// Gives everybody who waits, or will, the same outcome.
    func land(_ outcome: Result<Output, PipelineError>) {
        let (waiters, observers) = state.withLock { state in
            state.outcome = outcome
            // Whoever leaves from now on has nothing to cancel.
            state.task = nil
            defer { (state.waiters, state.observers) = ([:], []) }
            return (state.waiters, state.observers)
        }
        for waiter in waiters.values { waiter.resume(returning: outcome) }
        for observer in observers { observer() }
    }
}
