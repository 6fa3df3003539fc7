// SPDX-License-Identifier: Apache-2.0

/// THE SEAM to pixels: turns a source picture into a rendition, wherever that is done.
///
/// Two implementations: `WorkerPool` (spawned processes, for the daemon) and `InProcessRenderer` (for tests and the
/// command line). Safe from any task; many calls may run at once, and each implementation bounds how many do.
public protocol ImageRendering: Sendable {
    /// Decodes `source`, applies the plan and writes the encoded rendition into `destination` from `offset` on.
    ///
    /// What a plan writes beside its result goes to `beside`; where that fails, the result is none the worse for it.
    ///
    /// Cancelling the task gives up: a job that still queues leaves the queue, one that runs is killed.
    /// - Throws: what went wrong, as the room's closed error; the destination's content is then undefined.
    func render(
        _ plan: RenderPlan, from source: StoredBody, into destination: OwnedDescriptor, at offset: Int64,
        beside: SecondOutput?
    ) async throws(RenderError) -> Rendition
}

extension ImageRendering {
    /// Renders what writes nothing beside its result.
    public func render(
        _ plan: RenderPlan, from source: StoredBody, into destination: OwnedDescriptor, at offset: Int64
    ) async throws(RenderError) -> Rendition {
        try await render(plan, from: source, into: destination, at: offset, beside: nil)
    }
}

/// Where an intermediate is written.
public struct SecondOutput: Sendable {
    /// The file.
    public let file: OwnedDescriptor
    /// Where in it the intermediate begins.
    public let offset: Int64

    /// Names the place.
    public init(file: OwnedDescriptor, offset: Int64) {
        self.file = file
        self.offset = offset
    }
}
