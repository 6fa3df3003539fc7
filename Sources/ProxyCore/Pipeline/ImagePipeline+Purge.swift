// SPDX-License-Identifier: Apache-2.0

import Bodies
package import Cache
package import Freshness
import Origins
package import Primitives
import Request
package import URLs

/// What is cached of one source.
package struct SourceListing: Sendable {
    /// What is known of it; nil when nothing is.
    package var record: SourceRecord?
    /// Entries in memory, and how many bytes each has.
    package var memory: [(entry: EntryDescription, bytes: Int)]
    /// Entries on disk.
    package var disk: [IndexEntry]
    /// Whether there are more than were listed.
    package var isCut: Bool
}

extension ImagePipeline {
    /// Most entries of one tier in a listing.
    private static let maxListed = 1_000

    /// Removes entries; when it returns, they are gone from memory and disk, also after a restart.
    ///
    /// Tasks under way still answer their subscribers, store nothing, and can't be joined.
    ///
    /// - Throws: why the disk tier could not do it; what memory held is gone all the same.
    package func purge(
        _ target: PurgeTarget, in which: PurgedTiers = .all
    ) async throws(DiskCacheError) -> PurgeCounts {
        var counts: PurgeCounts
        switch target {
        case .source(let source):
            detach { $1 == source }
            defer { detach { $1 == source } }
            counts = try await tiers.purge(source: source, in: which)
            counts.failures = failures.clear(source: source)
        case .key(let key):
            detach { $0 == key || $1 == key }
            defer { detach { $0 == key || $1 == key } }
            counts = try await tiers.purge(key: key, in: which)
            counts.failures = failures.forget(key) ? 1 : 0
        case .tag(let tag):
            // A tag belongs to a source, too: none of its variants may be joined, whether requested under the tag or not.
            let found: @Sendable (Set<CacheKey>) -> Void = { [self] sources in
                detach { sources.contains($1) }
            }
            counts =
                which == .all
                ? try await tiers.purge(tag: tag, found: found)
                : try await tiers.removeResults(ofTag: tag, in: which, found: found)
            found(counts.sources)
            for source in counts.sources { counts.failures += failures.clear(source: source) }
            counts.mayLackSome = tiers.disk.mayLackLinks
        case .prefix(let prefix):
            // Running tasks do not know their URL, so no task may be joined during a purge by prefix.
            detach { _, _ in true }
            defer { detach { _, _ in true } }
            counts = try await tiers.purge(prefix: prefix, in: which)
            counts.failures = failures.clear(prefix: prefix, at: clock().seconds)
        case .everything:
            detach { _, _ in true }
            defer { detach { _, _ in true } }
            counts = try await tiers.purgeAll(in: which)
            counts.failures = failures.clear()
        }
        return counts
    }

    /// Prevents later requests from joining the running tasks of some results, and of some sources.
    ///
    /// Called twice by a purge. Before it voids tokens: a request that joins a task from before has a void one. And after it:
    /// what began in between has void tokens, too, and no later request joins it.
    private func detach(where isPurged: (_ result: CacheKey?, _ source: CacheKey) -> Bool) {
        tasks.detach { isPurged($0.result, $0.source) }
        fetches.detach { isPurged(nil, $0.source) }
    }

    /// What is cached of a source (SDWebImage: containsImageForKey).
    package func listing(of url: SourceURL) async throws(DiskCacheError) -> SourceListing {
        let key = key(of: url)
        let disk = try await tiers.disk.list(ofSource: key, limit: Self.maxListed + 1)
        let memory = tiers.memory.list(ofSource: key, limit: Self.maxListed + 1)
        return SourceListing(
            record: await tiers.disk.sourceRecord(for: key) ?? memory.first?.record,
            memory: memory.prefix(Self.maxListed).map { ($0.description, $0.body.count) },
            disk: Array(disk.prefix(Self.maxListed)),
            isCut: disk.count > Self.maxListed || memory.count > Self.maxListed)
    }

    /// Checks the files of some entries of the disk tier: see `DiskCache.verify`.
    package func verifyDisk(after row: Int64) async throws(DiskCacheError) -> DiskCache.Verification {
        try await tiers.disk.verify(after: row, atMost: Self.verifiedAtOnce)
    }

    /// So much is read before other work has its turn.
    private static let verifiedAtOnce = ByteCount.mebibytes(64)

    /// What the tiers hold, and may hold.
    package var contents: (memory: MemoryCache.Statistics, disk: DiskCache.Statistics) {
        (tiers.memory.statistics, tiers.disk.statistics)
    }

    package var failureCount: Int { failures.counts(at: clock().seconds).remembered.values.reduce(0, +) }

    /// Failures that are remembered of a source and its results, or all of them.
    package func failed(of url: SourceURL?, limit: Int) -> [FailedURLCache<PipelineError>.Remembered] {
        failures.list(source: url.map(key(of:)), limit: limit, at: clock().seconds)
    }

    /// Origins that are left alone now.
    package var refusedOrigins: [RefusedOrigin] { failures.hosts.refused(at: clock().seconds) }

    /// Forgets failures; returns how many.
    package func forgetFailures(of url: SourceURL?) -> Int {
        url.map { failures.clear(source: key(of: $0)) } ?? failures.clear()
    }

    /// The key of a source, in which the rule for its URL has a say.
    package func key(of url: SourceURL) -> CacheKey {
        // Lost: that a rule refuses it; nothing is stored then.
        ImageRequest(source: url, plan: nil, rule: try? configuration.origins.rule(for: url)).sourceKey
    }
}
