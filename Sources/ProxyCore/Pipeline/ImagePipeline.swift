// SPDX-License-Identifier: Apache-2.0

import Bodies
package import Cache
package import Freshness
package import Imaging
package import Loading
package import Observability
package import Origins
package import Primitives
package import Rendering
import Request
import Synchronization
package import URLs

/// Answers requests for images from tiers, origin and renderer (SDWebImage's manager).
///
/// A caller tries four ways in turn: `cachedEntry` for a hit in memory; `lookUpInPageCache` for one on disk that the page cache
/// holds, both on the event loop; `lookUpOnDisk`, which waits for the disk; and `answer`, which runs an `ImageJob`. Safe
/// from any thread.
package final class ImagePipeline: Sendable {
    package let tiers: ImageTiers
    let loader: any ImageLoading
    let renderer: any ImageRendering
    package let failures: FailedURLs
    let freshness: FreshnessPolicy
    let configuration: Configuration
    let metrics: Metrics
    package let clock: @Sendable () -> WallTime

    /// Fetches under way, by source. A conditional fetch may end with a 304 and no body; a job that needs the body does not
    /// join it.
    let fetches = ImageJob.Fetches()
    /// Images being made, by result key and what their clients ask of the cache.
    let tasks = ImageJob.Tasks()
    /// The number of tasks that `keepRunning` holds; beyond its bound, a task ends with its last client.
    private let background = Atomic(0)
    /// The last job for one client alone.
    let lastPrivateID = Atomic<UInt64>(0)
    /// Sources being refreshed in the background.
    let refreshes: Mutex<SourceLimiter>
    /// Facts of large originals of which one size has been made since the start. The key is their intermediate's, which names
    /// the source, too: the same bytes under another URL are another original.
    let firstSizes = Mutex(EvictionRing<CacheKey, Rendition.SourceFacts>(scanLimit: 64))
    /// Results that wait for a better one.
    let improvements: Mutex<ImprovementQueue>
    /// Stale copies served, for the metrics.
    package let staleAnswers: StaleTally

    /// The buckets that sources may name.
    package var buckets: Buckets { configuration.origins.buckets }

    /// What the pipeline itself must know of the configuration.
    package struct Configuration: Sendable {
        /// Most bytes of an original.
        package var maxSourceBytes: Int
        /// Whether drawings may go out as they came.
        package var passesDrawings = false
        /// The plan for a source that must not go out as it is, because it is not a raster image; its decodable formats are
        /// those that are accepted.
        package var rasterPlan: RenderPlan
        /// How sources are treated where one is named without a request for an image.
        package var origins: OriginRules
        /// Stand-ins for large originals.
        let intermediates: IntermediateRule
        /// Most refreshes of one origin's sources at once: more would only wait for its connections.
        package var refreshesPerOrigin = 6
        /// Better results in place of those made fast.
        let improve: ImproveConfiguration

        /// Called when a refresh in the background has failed, on its task.
        package var refreshFailed: @Sendable (SourceURL, PipelineError) -> Void = { _, _ in }

        /// Collects the settings.
        package init(
            maxSourceBytes: Int, rasterPlan: RenderPlan = RenderPlan(format: .source),
            origins: OriginRules = .none,
            intermediates: IntermediateConfiguration = IntermediateConfiguration(),
            improve: ImproveConfiguration = ImproveConfiguration()
        ) {
            self.improve = improve
            self.maxSourceBytes = maxSourceBytes
            self.rasterPlan = rasterPlan
            self.origins = origins
            self.intermediates = IntermediateRule(configuration: intermediates)
        }
    }

    /// Creates a pipeline from its parts.
    /// - Parameters:
    ///   - predecessor: the pipeline that this one replaces, with other settings and the same parts; its counts go on.
    ///   - clock: returns the time.
    package init(
        tiers: ImageTiers, loader: any ImageLoading, renderer: any ImageRendering, failures: FailedURLs,
        freshness: FreshnessPolicy, configuration: Configuration, metrics: Metrics,
        succeeding predecessor: ImagePipeline? = nil, clock: @escaping @Sendable () -> WallTime
    ) {
        self.tiers = tiers
        self.loader = loader
        self.renderer = renderer
        self.failures = failures
        self.freshness = freshness
        self.configuration = configuration
        self.metrics = metrics
        self.clock = clock
        let limit = freshness.refreshBounds.limit
        refreshes = Mutex(SourceLimiter(limit: limit, capacity: limit * Self.pausedRefreshes))
        improvements = Mutex(ImprovementQueue(capacity: configuration.improve.queue))
        staleAnswers = predecessor?.staleAnswers ?? StaleTally()
        if predecessor == nil { metrics.hostBreakersOpen.observe { failures.hosts.openCount } }
    }

    /// Most sources whose refresh has failed and that are paused, for each that may run.
    private static let pausedRefreshes = 128

    /// Fetches and images under way that further requests can join, for the metrics.
    package var taskCounts: (fetches: Int, images: Int) { (fetches.count, tasks.count) }

    /// An entry that may be served at once.
    package struct CachedEntry: Sendable {
        package let entry: MemoryEntry
        /// Whether it is to be refreshed while it is served.
        package let isStale: Bool
    }

    /// Hot path: what memory may answer a client that asks nothing special of the cache.
    ///
    /// One shard lock, no suspension, no allocation.
    package func cachedEntry(for key: CacheKey, at now: WallTime) -> CachedEntry? {
        guard let entry = tiers.entry(for: key), entry.description.isUsable(at: now.seconds),
            entry.description.kind != .original || !entry.record.reuse.directives.contains(.reencoded)
        else { return nil }
        if entry.record.isFresh(at: now) { return CachedEntry(entry: entry, isStale: false) }
        guard freshness.mayServeWhileRevalidating(entry.record, at: now) else { return nil }
        staleAnswers.count(entry)
        return CachedEntry(entry: entry, isStale: true)
    }

    /// Notes an entry's use in the tiers that were not asked for it: the disk tier, where a sweep would else count it as unused,
    /// and the shared tier, which gets what is used often.
    package func recordUse(_ entry: MemoryEntry) {
        let description = entry.description
        if description.kind.isResult { tiers.disk.recordAccess(description.key, kind: description.kind) }
        tiers.disk.recordAccess(description.sourceKey, kind: .original)
        tiers.offerUse(of: entry)
    }

    /// Counts bytes in memory that only an answer has, until the lease is released; nil where answers hold too many.
    package func leaseMemory(_ count: Int) -> MemoryLease? { tiers.memory.lease(count) }

    /// All bytes of an image; those in a file are read on a thread that may wait for the disk.
    /// - Throws: `internalFailure` where they can't be read.
    package func bytes(of image: ImageResponse) async throws(PipelineError) -> [UInt8] {
        guard let bytes = await tiers.bytes(of: image.body) else {
            throw .internalFailure("a stored picture can't be read")
        }
        return bytes
    }

    /// Retains a subscription, so that the task goes on when every client has left.
    func keepRunning(_ subscription: ImageJob.Subscription) {
        guard background.wrappingAdd(1, ordering: .relaxed).newValue <= Self.maxInBackground else {
            background.wrappingSubtract(1, ordering: .relaxed)
            return
        }
        Task {
            // Ignored: how it ended; its subscribers learn that, and what failed is counted where it did.
            _ = try? await subscription.output()
            background.wrappingSubtract(1, ordering: .relaxed)
        }
    }

    /// The most tasks that go on without a client.
    private static let maxInBackground = 256

    /// Whether a source may go out as it came, as far as that does not depend on the rule for its URL.
    func mayPass(_ record: SourceRecord) -> Bool {
        (!record.format.traits.isDrawing || configuration.passesDrawings)
            && !record.reuse.directives.contains(.reencoded)
    }
}
