// SPDX-License-Identifier: Apache-2.0

package import Bodies
package import Imaging
package import Primitives

/// The interface to the workers: turns a source picture into a rendition, in any process.
///
/// Two implementations: `WorkerPool` (spawned processes, for the daemon) and `InProcessRenderer` (for tests
/// and the command line). Safe from any task; many calls may run at once, and each implementation bounds how
/// many do.
package protocol ImageRendering: Sendable {
    /// Decodes `source`, applies the plan and writes the encoded rendition into `destination` from `offset`
    /// on.
    ///
    /// The intermediate of a plan is written to `intermediateTarget`; if that fails, the result is unaffected.
    ///
    /// Cancelling the task ends the job: a waiting one leaves the queue, a running one is killed.
    /// - Parameter waiters: the clients that the job counts for.
    /// - Throws: the error of the module's closed list; the destination's content is then undefined.
    func render(
        _ plan: RenderPlan, from source: StoredBody, into destination: OwnedDescriptor, at offset: Int64,
        intermediateTarget: FilePlace?, for waiters: Waiters
    ) async throws(RenderError) -> Rendition
}

extension ImageRendering {
    /// Renders a plan that writes no intermediate, by default for no client that can be distinguished.
    package func render(
        _ plan: RenderPlan, from source: StoredBody, into destination: OwnedDescriptor, at offset: Int64,
        for waiters: Waiters = Waiters()
    ) async throws(RenderError) -> Rendition {
        try await render(
            plan, from: source, into: destination, at: offset, intermediateTarget: nil, for: waiters)
    }
}
