// SPDX-License-Identifier: Apache-2.0

package import Cache
import Primitives

extension ImagePipeline {
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
            counts.failures = failures.clear(sources: [source], at: clock().seconds)
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
            counts.failures = failures.clear(sources: counts.sources, at: clock().seconds)
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
            counts.failures = failures.clear(at: clock().seconds)
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
}
