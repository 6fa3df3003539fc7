// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Which tiers a purge is about (SDWebImage: SDImageCacheType).
public enum PurgedTiers: String, Sendable, CaseIterable {
    /// Both.
    case all
    /// Memory alone: what is on disk stays and is read again.
    case memory
    /// The disk alone: what is in memory stays, and is answered from.
    case disk

    var includesMemory: Bool { self != .disk }
    var includesDisk: Bool { self != .memory }
}

/// How many entries a purge removed.
public struct PurgeCounts: Sendable, Hashable {
    /// From memory.
    public var memory = 0
    /// From disk.
    public var disk = 0
    /// From the blacklist.
    public var failures = 0
}

/// Tags that were written down lately, so that they are not again for each request. Bounded: full, it starts anew.
final class KnownTags: Sendable {
    private static let capacity = 65_536
    private let links = Mutex<Set<TagLink>>([])

    func unknown(of links: [TagLink]) -> [TagLink] {
        self.links.withLock { known in links.filter { !known.contains($0) } }
    }

    func insert(_ links: [TagLink]) {
        self.links.withLock { known in
            if known.count + links.count > Self.capacity { known = [] }
            known.formUnion(links)
        }
    }

    func removeAll() { links.withLock { $0 = [] } }
}

extension ImageTiers {
    /// Writes a request's tags down; false when that failed, and a purge would not find what is made.
    func link(_ request: ImageRequest) async -> Bool {
        let links = request.delivery.tags.map { tag in
            TagLink(tag: tag, result: request.resultKey, source: request.sourceKey)
        }
        let unknown = tags.unknown(of: links)
        guard !unknown.isEmpty else { return true }
        do throws(DiskCacheError) {
            try await disk.link(unknown)
            tags.insert(unknown)
            return true
        } catch {
            return false
        }
    }

    /// Removes everything of a source, its record included.
    func purge(source: CacheKey, in which: PurgedTiers) async throws(DiskCacheError) -> PurgeCounts {
        var counts = PurgeCounts()
        // So that what was answered counts as stored.
        await disk.settle()
        ledger.purge(source)
        if which.includesMemory {
            counts.memory = memory.removeAll(ofSource: source)
            files.removeAll(ofSource: source)
        }
        if which.includesDisk {
            files.removeAll(ofSource: source)
            counts.disk = try await disk.removeAll(ofSource: source)
        }
        return counts
    }

    /// Removes one entry: a result's, or an original's.
    func purge(key: CacheKey, in which: PurgedTiers) async throws(DiskCacheError) -> PurgeCounts {
        var counts = PurgeCounts()
        await disk.settle()
        ledger.purge(key)
        if which.includesMemory {
            // An untransformed picture has a key of its own here, and its source's on disk: either means both.
            counts.memory = (memory.remove(key) ? 1 : 0) + memory.removeOriginals(ofSource: key)
            forgetFiles(key)
        }
        if which.includesDisk {
            forgetFiles(key)
            for kind in EntryKind.allCases where try await disk.remove(key, kind: kind) { counts.disk += 1 }
        }
        return counts
    }

    private func forgetFiles(_ key: CacheKey) {
        files.remove(key)
        _ = files.removeOriginals(ofSource: key)
    }

    /// Removes everything.
    func purgeAll(in which: PurgedTiers) async throws(DiskCacheError) -> PurgeCounts {
        var counts = PurgeCounts()
        await disk.settle()
        ledger.purgeAll()
        tags.removeAll()
        files.removeAll()
        if which.includesMemory { counts.memory = memory.removeAll() }
        if which.includesDisk { counts.disk = try await disk.removeAll() }
        return counts
    }

    /// Removes all results under a tag, and marks their sources stale: the origin is asked before they serve again.
    func purge(tag: String) async throws(DiskCacheError) -> (counts: PurgeCounts, links: [TagLink]) {
        let found = FoundLinks()
        var counts = PurgeCounts()
        await disk.settle()
        tags.removeAll()
        counts.disk = try await disk.removeAll(taggedWith: tag) { [ledger] links in
            for link in links {
                ledger.purge(link.result)
                ledger.purge(link.source)
            }
            found.append(links)
        }
        for link in found.all {
            if memory.remove(link.result) { counts.memory += 1 }
            files.remove(link.result)
        }
        for source in Set(found.all.map(\.source)) { try await markStale(source) }
        return (counts, found.all)
    }

    private func markStale(_ source: CacheKey) async throws(DiskCacheError) {
        guard var record = await disk.sourceRecord(for: source) else {
            memory.removeAll(ofSource: source)
            files.removeAll(ofSource: source)
            // What its files say of its freshness must not be believed either.
            _ = try await disk.removeAll(ofSource: source)
            return
        }
        record.directives.insert(.purged)
        update(record)
        try await disk.save(record)
        // Again, as in `save`.
        files.update(record)
    }
}

/// Collects what the writer finds.
private final class FoundLinks: Sendable {
    private let links = Mutex<[TagLink]>([])

    var all: [TagLink] { links.withLock { $0 } }

    func append(_ some: [TagLink]) { links.withLock { $0 += some } }
}
