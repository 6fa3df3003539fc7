// SPDX-License-Identifier: Apache-2.0

import Imaging

/// What the pool does after a decision.
extension PoolState {
    /// What a worker's thread does next.
    enum Next {
        case job(RenderJob)
        case sleep
        case stop
    }

    /// The effects of changes, performed outside the lock.
    struct Effect {
        var alerts: [Alert] = []
        var failures: [(job: RenderJob, error: RenderError)] = []
        var resumptions: [CheckedContinuation<Void, Never>] = []
        var started: (CheckedContinuation<Result<Void, RenderError>, Never>, Result<Void, RenderError>)?

        /// Wakes threads, answers pings and resumes callers.
        func perform() {
            for alert in alerts { alert.raise() }
            for failure in failures { failure.job.finish(.failure(failure.error)) }
            for continuation in resumptions { continuation.resume() }
            if let (continuation, result) = started { continuation.resume(returning: result) }
        }
    }
}
