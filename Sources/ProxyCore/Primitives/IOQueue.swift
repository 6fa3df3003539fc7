// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// Runs blocking work, outside the event loops and Swift's own threads; bounded in running and waiting jobs. Clients take turns.
///
/// Each running job has a serial Dispatch queue, which gets a thread of its own; a concurrent queue would
/// share as many threads as there are cores, and blocking them all would stop other users of Dispatch.
package final class IOQueue<Failure: Error>: Sendable {
    private struct Job: Sendable {
        let run: @Sendable () -> Void
        /// Ends it without running it.
        let refuse: @Sendable () -> Void
    }

    private struct State {
        var idle: [DispatchQueue]
        var jobs: ClientTurns<Job>
    }

    private let overloaded: Failure
    private let state: Mutex<State>

    /// Creates a queue that runs at most `maxRunning` jobs at once and holds at most `maxWaiting` waiting
    /// ones.
    /// - Parameters:
    ///   - label: the name of its threads.
    ///   - maxRunning: jobs at once; all but one of them may be one client's.
    ///   - maxWaiting: jobs that wait.
    ///   - overloaded: thrown if too much waits already.
    package init(label: String, maxRunning: Int, maxWaiting: Int, overloaded: Failure) {
        self.overloaded = overloaded
        let queues = (0..<max(1, maxRunning)).map { DispatchQueue(label: "\(label).\($0)") }
        state = Mutex(
            State(
                idle: queues, jobs: ClientTurns(maxPerClient: max(1, maxRunning - 1), maxWaiting: maxWaiting))
        )
    }

    /// Runs `work` on an idle Dispatch queue and returns its result.
    /// - Parameters:
    ///   - client: the client whose turn it takes; nil for the daemon itself and for clients that can't be distinguished.
    ///   - work: the job.
    /// - Throws: `overloaded` if too much waits, most of it the client's own, already or before its turn comes; else what `work`
    ///   throws.
    package func run<Value: Sendable>(
        for client: ClientID? = nil, _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            let job = Job {
                continuation.resume(returning: Result { () throws(Failure) in try work() })
            } refuse: { [overloaded] in
                continuation.resume(returning: .failure(overloaded))
            }
            submit(job, for: client)
        }
        return try result.get()
    }

    private func submit(_ job: Job, for client: ClientID?) {
        let (queue, refused) = state.withLock { state -> (DispatchQueue?, Job?) in
            if !state.idle.isEmpty, state.jobs.starts(client) { return (state.idle.removeLast(), nil) }
            return (nil, state.jobs.append(job, for: client))
        }
        refused?.refuse()
        queue?.async { self.drain(queue, job, of: client) }
    }

    private func drain(_ queue: DispatchQueue?, _ job: Job, of client: ClientID?) {
        guard let queue else { return }
        var (job, client) = (job, client)
        while true {
            job.run()
            let next = state.withLock { state in
                state.jobs.ended(client)
                let next = state.jobs.takeNext()
                if next == nil { state.idle.append(queue) }
                return next
            }
            guard let next else { return }
            (job, client) = next
        }
    }
}
