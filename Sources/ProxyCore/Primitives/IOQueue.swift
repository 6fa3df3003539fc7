// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// Runs blocking work, outside the event loops and Swift's own threads; bounded in running and waiting jobs.
///
/// Each running job has a serial Dispatch queue, which gets a thread of its own; a concurrent queue would
/// share as many threads as there are cores, and blocking them all would stop other users of Dispatch.
package final class IOQueue<Failure: Error>: Sendable {
    private struct State {
        var idle: [DispatchQueue]
        var waiting = FIFO<@Sendable () -> Void>()
    }

    private let maxWaiting: Int
    private let overloaded: Failure
    private let state: Mutex<State>

    /// Creates a queue that runs at most `maxRunning` jobs at once and holds at most `maxWaiting` waiting
    /// ones.
    /// - Parameters:
    ///   - label: the name of its threads.
    ///   - maxRunning: jobs at once.
    ///   - maxWaiting: jobs that wait.
    ///   - overloaded: thrown if too much waits already.
    package init(label: String, maxRunning: Int, maxWaiting: Int, overloaded: Failure) {
        self.maxWaiting = maxWaiting
        self.overloaded = overloaded
        let queues = (0..<max(1, maxRunning)).map { DispatchQueue(label: "\(label).\($0)") }
        state = Mutex(State(idle: queues))
    }

    /// Runs `work` on an idle Dispatch queue and returns its result.
    /// - Throws: `overloaded` if too much waits already; else what `work` throws.
    package func run<Value: Sendable>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            let isAccepted = submit {
                continuation.resume(returning: Result { () throws(Failure) in try work() })
            }
            if !isAccepted { continuation.resume(returning: .failure(overloaded)) }
        }
        return try result.get()
    }

    private func submit(_ job: @escaping @Sendable () -> Void) -> Bool {
        let (queue, isAccepted) = state.withLock { state -> (DispatchQueue?, Bool) in
            if let queue = state.idle.popLast() { return (queue, true) }
            guard state.waiting.count < maxWaiting else { return (nil, false) }
            state.waiting.append(job)
            return (nil, true)
        }
        queue?.async { self.drain(queue, startingWith: job) }
        return isAccepted
    }

    private func drain(_ queue: DispatchQueue?, startingWith job: @Sendable () -> Void) {
        guard let queue else { return }
        job()
        while let next = state.withLock({ next(&$0, for: queue) }) { next() }
    }

    /// The job that has waited longest; if there is none, the Dispatch queue is idle again.
    private func next(_ state: inout State, for queue: DispatchQueue) -> (@Sendable () -> Void)? {
        let job = state.waiting.popFirst()
        if job == nil { state.idle.append(queue) }
        return job
    }
}
