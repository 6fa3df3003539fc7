// SPDX-License-Identifier: Apache-2.0

package import Bodies
package import Imaging
package import Primitives

/// Renders in this process, on a few threads of its own: for tests, the command line and comparison.
///
/// A hostile picture can end the process, and a job cannot be stopped: a cancelled one waits for its turn and
/// runs to its end, and there is no deadline.
package final class InProcessRenderer: ImageRendering {
    private let queue: IOQueue<RenderError>
    /// Jobs that no client waits for have a thread of their own, and do not wait.
    private let background = IOQueue<RenderError>(
        label: "imageproxyd.improve", maxRunning: 1, maxWaiting: 0, overloaded: .queueFull)

    /// Creates a renderer.
    ///
    /// - Parameters:
    ///   - width: jobs that run at once, at least 1.
    ///   - depth: jobs that may wait; beyond it `queueFull`.
    package init(width: Int = 1, depth: Int = 64) {
        queue = IOQueue(
            label: "imageproxyd.render", maxRunning: width, maxWaiting: max(0, depth), overloaded: .queueFull)
    }

    /// Creates a renderer with as many threads as there would be workers.
    package convenience init(configuration: TransformConfiguration) {
        let width = configuration.workerCount
        self.init(width: width, depth: configuration.depth(workers: width))
    }

    /// Queues the job and returns when it is done; see `ImageRendering`.
    package func render(
        _ plan: RenderPlan, from source: StoredBody, into destination: OwnedDescriptor, at offset: Int64,
        intermediateTarget: FilePlace?, for waiters: Waiters
    ) async throws(RenderError) -> Rendition {
        let enqueued = ContinuousClock.now
        let rendition = try await (waiters.isBackground ? background : queue).run { () throws(RenderError) in
            let waited = (ContinuousClock.now - enqueued).inMicroseconds
            guard let source = VipsSource.copy(of: source) else {
                throw .systemFailure("the source can't be read")
            }
            var rendition = try RenderEngine(plan: plan).execute(
                source, into: destination.raw, at: offset,
                intermediateTarget: intermediateTarget.map { ($0.file.raw, $0.offset) })
            rendition.timings.queue = waited
            return rendition
        }
        if Task.isCancelled { throw .cancelled }
        return rendition
    }
}
