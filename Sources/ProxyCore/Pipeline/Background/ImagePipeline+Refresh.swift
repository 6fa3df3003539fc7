// SPDX-License-Identifier: Apache-2.0

package import Cache
import Freshness
import Primitives
package import Request
import Synchronization

extension ImagePipeline {
    /// Hot path: has a stale entry refreshed in the background, unless that is under way (RFC 5861 §3).
    ///
    /// - Parameter request: called only when a refresh begins, on its task; nil when the request can't be read.
    package func refresh(_ entry: MemoryEntry, as request: @escaping @Sendable () -> ImageRequest?) {
        // Two elections: the entry's bit is cheap for its many hits; the limiter knows all results of the source.
        guard entry.beginRefresh() else { return }
        let source = entry.description.sourceKey
        let isElected = beginRefresh(of: source) {
            // A refresh that succeeds puts another entry into this one's place.
            defer { entry.endRefresh() }
            guard let request = request() else { return false }
            return await self.refresh(request, .none)
        }
        if !isElected { entry.endRefresh() }
    }

    /// Has a stale source refreshed in the background, unless that is under way.
    ///
    /// All clients get its result: of the request that found the copy stale, nothing goes to the origin.
    func startRefresh(of request: ImageRequest, _ context: FetchContext) {
        beginRefresh(of: request.sourceKey) { await self.refresh(request, context.ofBackgroundWork) }
    }

    @discardableResult
    private func beginRefresh(
        of source: CacheKey, work: @escaping @Sendable () async -> Bool
    ) -> Bool {
        let now = clock().seconds
        guard refreshes.withLock({ $0.begin(source, at: now) }) else { return false }
        Task {
            let isRefreshed = await work()
            let (now, pause) = (clock().seconds, isRefreshed ? 0 : freshness.refreshBounds.pause)
            refreshes.withLock { $0.end(source, pausedFor: pause, at: now) }
        }
        return true
    }

    /// Revalidates the source; when its bytes have changed, makes the requested result from the new ones.
    private func refresh(_ request: ImageRequest, _ context: FetchContext) async -> Bool {
        guard let record = await tiers.record(for: request) else { return false }
        // Refreshed meanwhile by a request that had to wait for it.
        if record.isFresh(at: clock()) { return true }
        var request = request
        request.delivery.priority = .low
        var job = ImageJob(self, request, context: context)
        do throws(PipelineError) {
            let isUsable = request.accepts(record) && job.mayConfirm(record)
            let source = try await job.fetch(validating: isUsable ? record : nil)
            // A result that no tier may store is made when a client requests it.
            if source.record.contentHash != record.contentHash, !source.record.directives.forbidStoring {
                job.givenSource = source
                _ = try await job.resultOfTask()
            }
            return true
        } catch {
            // The stale copy serves as long as it may.
            configuration.refreshFailed(request.source, error)
            return false
        }
    }
}
