// SPDX-License-Identifier: Apache-2.0

import Bodies
import Imaging
import Primitives

/// One call of `render` on its way through a queue.
struct RenderJob: Sendable {
    /// Identifies the job within its renderer.
    let id: Int
    let plan: RenderPlan
    let source: StoredBody
    let destination: OwnedDescriptor
    let offset: Int64
    /// Where an intermediate is written.
    let intermediateTarget: FilePlace?
    let enqueued: ContinuousClock.Instant
    /// The longest wait for a worker.
    let queueTimeout: Duration
    /// The clients that wait for it.
    let waiters: Waiters
    /// Resumed exactly once, by the code that removes the job from the renderer's state.
    let continuation: CheckedContinuation<Result<Rendition, RenderError>, Never>
    /// Whether a worker has exited during it already; a second one is not replaced by a third.
    var isRetried = false

    /// Whether it has computed for longer than its header promised, and counts as much work from then on.
    var isSlow = false

    /// When a job that waits fails: so long after it was enqueued, or after the last of its clients joined, which would
    /// otherwise fail sooner than with a job of its own.
    static func deadline(
        enqueued: ContinuousClock.Instant, _ waiters: Waiters, timeout: Duration
    ) -> ContinuousClock.Instant {
        max(enqueued, waiters.current.lastJoin ?? enqueued) + timeout
    }

    /// When it fails if it waits until then; later once another client has joined.
    var deadline: ContinuousClock.Instant {
        Self.deadline(enqueued: enqueued, waiters, timeout: queueTimeout)
    }

    /// Answers the caller.
    func finish(_ result: Result<Rendition, RenderError>) {
        continuation.resume(returning: result)
    }
}
