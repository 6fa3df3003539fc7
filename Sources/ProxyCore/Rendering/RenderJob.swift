// SPDX-License-Identifier: Apache-2.0

import Bodies
import Imaging

/// One call of `render` on its way through a queue.
struct RenderJob: Sendable {
    /// Identifies the job within its renderer.
    let id: Int
    let plan: RenderPlan
    let source: StoredBody
    let destination: OwnedDescriptor
    let offset: Int64
    /// Where an intermediate is written.
    let beside: FilePlace?
    let enqueued: ContinuousClock.Instant
    /// The clients that wait for it.
    var interest = RenderInterest()
    /// Resumed exactly once, by the code that removes the job from the renderer's state.
    let continuation: CheckedContinuation<Result<Rendition, RenderError>, Never>
    /// Whether a worker has exited during it already; a second one is not replaced by a third.
    var isRetried = false

    /// The same, for its second worker.
    var retried: RenderJob {
        var job = self
        job.isRetried = true
        return job
    }

    /// Answers the caller.
    func finish(_ result: Result<Rendition, RenderError>) {
        continuation.resume(returning: result)
    }

    /// Answers the caller with an error.
    func fail(_ error: RenderError) {
        finish(.failure(error))
    }
}
