// SPDX-License-Identifier: Apache-2.0

package import Cache
import Freshness
import Origins
package import Primitives
package import Request
import Synchronization
import URLs

extension ImagePipeline {
    /// Hot path: has a stale entry refreshed in the background, unless that is under way (RFC 5861 §3).
    ///
    /// - Parameters:
    ///   - client: the client that found it stale.
    ///   - request: called only when a refresh begins, on its task; nil when the request can't be read.
    package func refresh(
        _ entry: MemoryEntry, for client: ClientID?, as request: @escaping @Sendable () -> ImageRequest?
    ) {
        // Two elections: the entry's bit is cheap for its many hits; the limiter knows all results of the source.
        guard entry.beginRefresh() else { return }
        let source = entry.description.sourceKey
        let isElected = beginRefresh(of: source) {
            // A refresh that succeeds puts another entry into this one's place.
            defer { entry.endRefresh() }
            guard let request = request() else { return self.freshness.refreshBounds.pause }
            return await self.refresh(request, source, .none, for: client)
        }
        if !isElected { entry.endRefresh() }
    }

    /// Has a stale source refreshed in the background, unless that is under way.
    ///
    /// All clients get its result: of the request that found the copy stale, nothing but the URL goes to the origin.
    func startRefresh(of request: ImageRequest, _ context: FetchContext) {
        beginRefresh(of: request.sourceKey) {
            await self.refresh(
                request, request.sourceKey, context.ofBackgroundWork, for: context.client)
        }
    }

    /// - Parameter work: returns the seconds for which the source is not refreshed again.
    @discardableResult
    private func beginRefresh(
        of source: CacheKey, work: @escaping @Sendable () async -> Int64
    ) -> Bool {
        let now = clock().seconds
        guard refreshes.withLock({ $0.begin(source, at: now) }) else { return false }
        Task {
            let pause = await work()
            let now = clock().seconds
            refreshes.withLock { $0.end(source, pausedFor: pause, at: now) }
        }
        return true
    }

    /// Revalidates the source, which has a place; when its bytes have changed, makes the requested result from the new ones.
    /// - Returns: seconds for which the source is not to be refreshed again.
    private func refresh(
        _ request: ImageRequest, _ source: CacheKey, _ context: FetchContext, for client: ClientID?
    ) async -> Int64 {
        let origin = (request.rule.map { $0.target(of: request.source) } ?? request.source)?.origin
        let most = configuration.refreshesPerOrigin
        let hasShare = refreshes.withLock { limiter in
            origin.map { limiter.assign(source, to: $0, atMost: most, for: client) } ?? true
        }
        // So that not each hit tries again.
        guard hasShare else { return 1 }
        let pause = freshness.refreshBounds.pause
        // A client chooses the parameters that the source's key leaves out, and the origin may refuse the refresh because of
        // them: then that URL is paused, and other clients' URLs are not.
        let isOneOfMany = request.rule?.dropsParameters == true
        let url = request.fullKey
        if isOneOfMany, refreshes.withLock({ $0.isPaused(url, at: clock().seconds) }) { return 0 }
        guard let record = await tiers.record(for: request) else { return pause }
        // Refreshed meanwhile by a request that had to wait for it.
        if record.isFresh(at: clock()) { return 0 }
        var request = request
        request.delivery.priority = .low
        var job = ImageJob(self, request, context: context)
        do throws(PipelineError) {
            let isUsable = request.matchesStoreAs(record) && job.mayConfirm(record)
            let source = try await job.fetch(validating: isUsable ? record : nil)
            // A result that no tier may store is made when a client requests it.
            if source.record.contentHash != record.contentHash, !source.record.reuse.directives.forbidStoring
            {
                job.given = Source.Given(source)
                _ = try await job.resultOfTask()
            }
            return 0
        } catch {
            // Of the client, or of a queue: another client's request may have the source refreshed at once.
            guard !error.isOfCaller else { return 0 }
            // The stale copy serves as long as it may.
            configuration.refreshFailed(request.source, error)
            guard isOneOfMany else { return pause }
            refreshes.withLock { $0.pause(url, for: pause, at: clock().seconds) }
            return 0
        }
    }
}
