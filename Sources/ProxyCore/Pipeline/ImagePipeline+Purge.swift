// SPDX-License-Identifier: Apache-2.0

/// What is to be purged.
public enum PurgeTarget: Sendable {
    /// A source with all its variants.
    case source(SourceURL)
    /// One entry.
    case key(CacheKey)
    /// Every result under a tag.
    case tag(String)
    /// Everything.
    case everything
}

/// What is cached of one source.
public struct SourceListing: Sendable {
    /// What is known of it; nil when nothing is.
    public var record: SourceRecord?
    /// Entries in memory.
    public var memory: [EntryDescription]
    /// Entries on disk.
    public var disk: [DiskCache.Listed]
    /// Whether there are more than were listed.
    public var isCut: Bool
}

extension ImagePipeline {
    /// Most entries of one tier in a listing.
    private static let maxListed = 1_000

    /// Removes entries; when it returns, they are gone from memory and disk, also for who restarts the daemon.
    ///
    /// What is on its way still answers who waits for it, is stored nowhere, and is joined by nobody.
    ///
    /// - Throws: why the disk tier could not do it; what memory held is gone all the same.
    public func purge(
        _ target: PurgeTarget, in tiers: PurgedTiers = .all
    ) async throws(DiskCacheError) -> PurgeCounts {
        switch target {
        case .source(let url): return try await purge(source: key(of: url), in: tiers)
        case .key(let key):
            renderings.closeBoarding { $0.result == key || $0.source == key }
            fetches.closeBoarding { $0.source == key }
            var counts = try await self.tiers.purge(key: key, in: tiers)
            counts.failures = failures.clear(key: key)
            return counts
        case .tag(let tag):
            let purged = try await self.tiers.purge(tag: tag)
            let results = Set(purged.links.map(\.result))
            let sources = Set(purged.links.map(\.source))
            renderings.closeBoarding { results.contains($0.result) }
            fetches.closeBoarding { sources.contains($0.source) }
            return purged.counts
        case .everything:
            renderings.closeBoarding { _ in true }
            fetches.closeBoarding { _ in true }
            var counts = try await self.tiers.purgeAll(in: tiers)
            counts.failures = failures.clear()
            return counts
        }
    }

    private func purge(source: CacheKey, in tiers: PurgedTiers) async throws(DiskCacheError) -> PurgeCounts {
        renderings.closeBoarding { $0.source == source }
        fetches.closeBoarding { $0.source == source }
        var counts = try await self.tiers.purge(source: source, in: tiers)
        counts.failures = failures.clear(source: source)
        return counts
    }

    /// What is cached of a source (SDWebImage: containsImageForKey).
    public func listing(of url: SourceURL) async throws(DiskCacheError) -> SourceListing {
        let key = key(of: url)
        let disk = try await tiers.disk.list(ofSource: key, limit: Self.maxListed + 1)
        let memory = tiers.memory.list(ofSource: key, limit: Self.maxListed + 1)
        return SourceListing(
            record: await tiers.disk.sourceRecord(for: key) ?? memory.first?.record,
            memory: memory.prefix(Self.maxListed).map(\.description),
            disk: Array(disk.prefix(Self.maxListed)),
            isCut: disk.count > Self.maxListed || memory.count > Self.maxListed)
    }

    /// Failures that are remembered of a source and its results, or all of them.
    public func failed(of url: SourceURL?, limit: Int) -> [FailureMemory.Listed] {
        failures.list(source: url.map(key(of:)), limit: limit, at: clock())
    }

    /// Forgets failures; returns how many.
    public func forgetFailures(of url: SourceURL?) -> Int {
        url.map { failures.clear(source: key(of: $0)) } ?? failures.clear()
    }

    private func key(of url: SourceURL) -> CacheKey {
        // Lost: that a rule refuses it; nothing is stored then.
        ImageRequest(source: url, plan: nil, rule: try? configuration.origins.rule(for: url)).sourceKey
    }
}
