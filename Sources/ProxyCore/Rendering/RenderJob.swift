// SPDX-License-Identifier: Apache-2.0

/// One call of `render` on its way through a queue.
struct RenderJob: Sendable {
    /// Names the job within its renderer.
    let id: Int
    let plan: RenderPlan
    let source: StoredBody
    let destination: OwnedDescriptor
    let offset: Int64
    /// Where an intermediate goes.
    let beside: SecondOutput?
    let enqueued: ContinuousClock.Instant
    /// Who waits for it.
    var interest = RenderInterest()
    /// Resumed exactly once, by whoever takes the job out of the renderer's state.
    let continuation: CheckedContinuation<Result<Rendition, RenderError>, Never>
    /// Whether a worker has fallen over it already; a second one is not replaced by a third.
    var isRetried = false

    /// The same, given to its second worker.
    var retried: RenderJob {
        var job = self
        job.isRetried = true
        return job
    }

    /// Answers the caller.
    func finish(_ result: Result<Rendition, RenderError>) {
        continuation.resume(returning: result)
    }

    /// Answers the caller with what went wrong.
    func fail(_ error: RenderError) {
        finish(.failure(error))
    }
}
