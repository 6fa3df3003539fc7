// SPDX-License-Identifier: Apache-2.0

import Bodies
import Cache
import Freshness
import Loading
import Observability
import Primitives
import Rendering
import Request

/// How a request joins the task that makes its image, or starts it, and what it gets from that.
extension ImageJob {
    /// Subscribes to the task that makes the image, and starts it where there is none.
    func join() async -> Subscription {
        var job = self
        // Before the task begins, so that a purge by tag finds the image; what no purge would find is not stored, in a task of
        // its own, since the directives are part of the key.
        if await !linkTags() { job.directives.noStore = true }
        let key = job.key
        let subscription = pipeline.tasks.join(
            key,
            progress: ImageProgress(
                waiters: Waiters(context.client, priority), forwarding: context.forwarding)
        ) { [job] (progress, detach) async throws(PipelineError) in try await job.run(progress, detach) }
        if subscription.isLeader {
            subscription.result.whenSet { [progress = subscription.progress] in
                progress.streamedFetch.set(nil)
            }
        } else {
            subscription.progress.waiters.join(context.client, priority, at: .now)
            job.joinFetch()
        }
        if !isPrivate, request.delivery.options.contains(.continueInBackground) {
            pipeline.keepRunning(subscription)
        }
        return subscription
    }

    /// Has a purge by any of the request's tags find the image; false where it would not.
    func linkTags() async -> Bool {
        if isPrivate { return true }
        return await tiers.linkTags(of: request)
    }

    /// Has a fetch that others wait for already get its slot as soon as this job, and its client, would.
    func joinFetch() {
        for isConditional in [false, true] {
            let fetch = pipeline.fetches.progress(of: fetchKey(isConditional: isConditional))
            fetch?.waiters.join(context.client, priority)
        }
    }

    /// Makes the image; runs at most once at a time for a key. Ends when the image is on disk, where the client waits for that.
    private func run(
        _ progress: ImageProgress, _ detach: @escaping @Sendable () -> Void
    ) async throws(PipelineError) -> ImageResponse {
        var job = self
        job.waiters = progress.waiters
        job.detachTask = detach
        job.streamProgress = request.isUntouched ? progress : nil
        // Issued again: a purge between the job's creation and the task's start does not concern it.
        if given == nil { job.token = tiers.purgeLog.token(for: request.resultKey, request.sourceKey) }
        var response = try await job.image()
        if scope == .durable {
            await tiers.makeDurable(&response, for: request, client: context.client, token: job.token)
        }
        try await leaseMemory(of: &response)
        return response
    }

    /// Counts bytes in memory that no tier has, as long as clients read them; where too many are, moves them to a file.
    ///
    /// The file has no name, as that of a large original: nothing of an answer that must not be stored outlasts it.
    private func leaseMemory(of response: inout ImageResponse) async throws(PipelineError) {
        let count = response.body.count
        guard response.entry == nil, response.body.isInMemory, count > Self.leastLease else { return }
        response.lease = tiers.memory.lease(count)
        guard response.lease == nil else { return }
        guard let bytes = await tiers.bytes(of: response.body),
            let file = await tiers.spilled(bytes, keyText: request.resultKeyText)
        else { throw .queueFull }
        response.body = file
    }

    /// Fewer bytes are not counted: a connection's buffers take as much.
    private static let leastLease = 4_096

    // MARK: - Answer

    /// The task's result; where that was refused because of the client that started it, the result of another task.
    func result(of subscription: Subscription) async throws(PipelineError) -> ImageResponse {
        do {
            return try await collapsedResult(of: subscription)
        } catch {
            guard !subscription.isLeader, error.isClientPaused else { throw error }
            return try await collapsedResult(of: join())
        }
    }

    private func collapsedResult(of subscription: Subscription) async throws(PipelineError) -> ImageResponse {
        var response: ImageResponse
        do {
            response = try await subscription.output()
        } catch {
            if !subscription.isLeader {
                context.forwarding?.join(subscription.progress.forwarding)
            }
            throw error
        }
        response.isCollapsed = !subscription.isLeader
        if response.isCollapsed { metrics.coalescedRequests.increment(.transform) }
        return response
    }

    /// The answer, once its tags are linked; without entry, and so without alias, where they can't be.
    ///
    /// After a task, too, although `join` has linked them before: (1) A links its tags, (2) a purge removes the links, (3) A's
    /// task starts, so that its token is valid, and stores. Without this the next purge would not find what it stored.
    func withLinkedTags(_ response: ImageResponse) async -> ImageResponse {
        guard await !linkTags() else { return response }
        var response = response
        // No entry, no alias: the next request for it tries again.
        (response.isTagged, response.entry) = (false, nil)
        return response
    }

    /// The image, made in a task that requests may join; a source that is given is not fetched again.
    func resultOfTask() async throws(PipelineError) -> ImageResponse {
        await withLinkedTags(try await result(of: join()))
    }
}

extension TaskTable.Subscription where Failure == PipelineError {
    /// Waits for the task's end; cancelling the caller's task ends the wait with `clientLeft`.
    func output() async throws(PipelineError) -> Output {
        guard let result = await result.wait() else { throw .clientLeft }
        return try result.get()
    }
}
