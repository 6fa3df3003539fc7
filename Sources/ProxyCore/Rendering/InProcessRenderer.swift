// SPDX-License-Identifier: Apache-2.0

package import Bodies
import Dispatch
package import Imaging
import Primitives
import Synchronization

/// Renders in this process, on a few threads of its own: for tests, the command line and comparison.
///
/// A hostile picture can end the process, and a running job cannot be stopped: a cancelled one runs to its
/// end, and there is no deadline.
package final class InProcessRenderer: ImageRendering {
    /// Jobs that run at once.
    private let width: Int
    /// Jobs that may wait; beyond it `queueFull`.
    private let depth: Int
    private let threads = DispatchQueue(label: "imageproxyd.render", attributes: .concurrent)
    private let state = Mutex(State())

    private struct State {
        var nextID = 0
        var running = 0
        var waiting: [RenderJob] = []
        var cancelled: Set<Int> = []
    }

    /// Creates a renderer.
    ///
    /// - Parameters:
    ///   - width: jobs that run at once, at least 1.
    ///   - depth: jobs that may wait; beyond it `queueFull`.
    package init(width: Int = 1, depth: Int = 64) {
        self.width = max(1, width)
        self.depth = max(0, depth)
    }

    /// Creates a renderer with as many threads as there would be workers.
    package convenience init(configuration: TransformConfiguration) {
        let width = configuration.workerCount
        self.init(width: width, depth: configuration.depth(workers: width))
    }

    /// Queues the job and returns when it is done; see `ImageRendering`.
    package func render(
        _ plan: RenderPlan, from source: StoredBody, into destination: OwnedDescriptor, at offset: Int64,
        intermediateTarget: FilePlace?, for interest: RenderInterest
    ) async throws(RenderError) -> Rendition {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                submit(
                    RenderJob(
                        id: id, plan: plan, source: source, destination: destination, offset: offset,
                        intermediateTarget: intermediateTarget,
                        enqueued: .now, interest: interest, continuation: continuation))
            }
        } onCancel: {
            cancel(id)
        }
        // A cancellation that came too late for its job must not be remembered.
        state.withLock { _ = $0.cancelled.remove(id) }
        return try result.get()
    }

    private enum Admission {
        case run, wait, full, cancelled
    }

    private func submit(_ job: RenderJob) {
        let admission: Admission = state.withLock { state in
            if state.cancelled.remove(job.id) != nil { return .cancelled }
            if state.running < width {
                state.running += 1
                return .run
            }
            guard state.waiting.count < depth, !job.interest.isBackground else { return .full }
            state.waiting.append(job)
            return .wait
        }
        switch admission {
        case .run: start(job)
        case .wait: break
        case .full: job.fail(.queueFull)
        case .cancelled: job.fail(.cancelled)
        }
    }

    /// Removes a waiting job from the queue; one that has not been submitted yet will be refused.
    private func cancel(_ id: Int) {
        let job: RenderJob? = state.withLock { state in
            guard let index = state.waiting.firstIndex(where: { $0.id == id }) else {
                state.cancelled.insert(id)
                return nil
            }
            return state.waiting.remove(at: index)
        }
        job?.fail(.cancelled)
    }

    private func start(_ job: RenderJob) {
        threads.async { [self] in
            let result = Self.run(job)
            let (next, isCancelled) = state.withLock { state in
                let next = state.waiting.isEmpty ? nil : state.waiting.removeFirst()
                if next == nil { state.running -= 1 }
                return (next, state.cancelled.remove(job.id) != nil)
            }
            job.finish(isCancelled ? .failure(.cancelled) : result)
            if let next { start(next) }
        }
    }

    private static func run(_ job: RenderJob) -> Result<Rendition, RenderError> {
        let queue = (ContinuousClock.now - job.enqueued).inMicroseconds
        guard let source = VipsSource.copy(of: job.source) else {
            return .failure(.unavailable("the source can't be read"))
        }
        do {
            var rendition = try RenderEngine(plan: job.plan).execute(
                source, into: job.destination.raw, at: job.offset,
                intermediateTarget: job.intermediateTarget.map { ($0.file.raw, $0.offset) })
            rendition.timings.queue = queue
            return .success(rendition)
        } catch {
            return .failure(error)
        }
    }
}
