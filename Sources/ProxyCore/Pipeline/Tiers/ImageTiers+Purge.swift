// SPDX-License-Identifier: Apache-2.0

import Cache
import Freshness
package import Primitives
import Request
import Synchronization

/// Which tiers a purge is about (SDWebImage: SDImageCacheType).
package enum PurgedTiers: String, Sendable, CaseIterable {
    /// Memory, open files and disk.
    case all
    /// Memory alone: what is on disk stays and is read again.
    case memory
    /// The disk alone: what is in memory stays, and is answered from.
    case disk

    var includesMemory: Bool { self != .disk }
    var includesDisk: Bool { self != .memory }
}

/// How many entries a purge removed.
package struct PurgeCounts: Sendable, Hashable {
    package var memory = 0
    package var disk = 0
    /// Remembered failures.
    package var failures = 0
    /// Whether there may be more of what was to be purged: links of tags were lost before.
    package var mayLackSome = false
    /// The sources that a purge by a tag found.
    package var sources: Set<CacheKey> = []
}

extension ImageTiers {
    /// Removes everything of a source, its record included.
    func purge(source: CacheKey, in which: PurgedTiers) async throws(DiskCacheError) -> PurgeCounts {
        var counts = PurgeCounts()
        // Entries that were answered before they were written are written first, so that the purge finds
        // them.
        await disk.flush()
        purgeLog.begin([source])
        defer { purgeLog.end([source]) }
        openFiles.removeAll(ofSource: source)
        if which.includesMemory { counts.memory = memory.removeAll(ofSource: source) }
        if which.includesDisk { counts.disk = try await disk.removeAll(ofSource: source) }
        return counts
    }

    /// The same for a source that is gone, or must not be stored any more.
    func removeAll(ofSource source: CacheKey) async {
        // Ignored: a failure to delete; the source's record is gone or stale, so nothing of it is served.
        _ = try? await purge(source: source, in: .all)
    }

    /// Removes one entry: a result's, or an original's.
    func purge(key: CacheKey, in which: PurgedTiers) async throws(DiskCacheError) -> PurgeCounts {
        var counts = PurgeCounts()
        await disk.flush()
        purgeLog.begin([key])
        defer { purgeLog.end([key]) }
        // An untransformed picture has its own key in memory, and its source's on disk: either means both.
        _ = remove(key, from: openFiles)
        if which.includesMemory { counts.memory = remove(key, from: memory) }
        if which.includesDisk { counts.disk = try await removeOnDisk(key, EntryKind.allCases) }
        return counts
    }

    private func remove(_ key: CacheKey, from cache: MemoryCache) -> Int {
        (cache.remove(key) ? 1 : 0) + cache.removeOriginals(ofSource: key)
    }

    private func removeOnDisk(_ key: CacheKey, _ kinds: [EntryKind]) async throws(DiskCacheError) -> Int {
        var count = 0
        for kind in kinds where try await disk.remove(key, kind: kind) { count += 1 }
        return count
    }

    /// Removes everything; tags stay where memory does, which they hang on.
    func purgeAll(in which: PurgedTiers) async throws(DiskCacheError) -> PurgeCounts {
        var counts = PurgeCounts()
        await disk.flush()
        purgeLog.beginAll()
        defer { purgeLog.endAll() }
        openFiles.removeAll()
        if which.includesMemory { counts.memory = memory.removeAll() }
        if which.includesDisk {
            counts.disk = try await disk.removeAll(keepingTags: !which.includesMemory)
            // What was stored since the first time may have lost its tags.
            if which.includesMemory { counts.memory += memory.removeAll() }
        }
        return counts
    }

    /// Removes the sources whose normalized URL begins with `prefix`, with all that was made of them.
    ///
    /// What is being made meanwhile of any source is answered, and not stored: whose it is is not known until then.
    func purge(prefix: String, in which: PurgedTiers) async throws(DiskCacheError) -> PurgeCounts {
        var counts = PurgeCounts()
        let isPurged: @Sendable (String) -> Bool = { keyText in
            ImageRequest.source(inKeyText: keyText)?.hasPrefix(prefix) ?? false
        }
        await disk.flush()
        purgeLog.beginAll()
        defer { purgeLog.endAll() }
        openFiles.removeAll { isPurged($0.record.keyText) }
        if which.includesMemory { counts.memory = memory.removeAll { isPurged($0.record.keyText) } }
        if which.includesDisk { counts.disk = try await disk.removeAllSources(whereKeyText: isPurged) }
        return counts
    }

    /// Removes all results under a tag, and marks their sources stale: the origin is asked before they serve again.
    ///
    /// - Parameter found: called with the sources before anything is removed: their tasks must not be joined.
    func purge(
        tag: String, found: @escaping @Sendable (Set<CacheKey>) -> Void
    ) async throws(DiskCacheError) -> PurgeCounts {
        let all = FoundLinks()
        var counts = PurgeCounts()
        var failure: DiskCacheError?
        await disk.flush()
        defer { purgeLog.end(all.links.keys) }
        do throws(DiskCacheError) {
            counts.disk = try await disk.removeAll(taggedWith: tag) { [purgeLog] links in
                // Tasks are detached before tokens are void: what joins in between stores nothing.
                found(Set(links.map(\.source)))
                purgeLog.begin(links.keys)
                all.append(links)
            }
        } catch {
            // What was found until then is purged, as far as it can be.
            failure = error
        }
        for link in all.links {
            if memory.remove(link.result) { counts.memory += 1 }
            openFiles.remove(link.result)
        }
        counts.sources = Set(all.links.map(\.source))
        for source in counts.sources { await markStale(source) }
        if let failure { throw failure }
        return counts
    }

    /// Removes what carries a tag from memory or from disk alone; what the other holds keeps the tag, and is answered from.
    ///
    /// An untransformed picture is on disk as its source's original, which goes, too.
    /// - Parameter found: as above.
    func removeResults(
        ofTag tag: String, in which: PurgedTiers, found: (Set<CacheKey>) -> Void
    ) async throws(DiskCacheError) -> PurgeCounts {
        var counts = PurgeCounts()
        let links = try await disk.links(ofTag: tag)
        counts.sources = Set(links.map(\.source))
        found(counts.sources)
        purgeLog.begin(links.keys)
        defer { purgeLog.end(links.keys) }
        let results = EntryKind.allCases.filter(\.isResult)
        for link in links {
            openFiles.remove(link.result)
            if which.includesMemory, memory.remove(link.result) { counts.memory += 1 }
            if which.includesDisk { counts.disk += try await removeOnDisk(link.result, results) }
        }
        guard which.includesDisk else { return counts }
        for source in counts.sources {
            _ = remove(source, from: openFiles)
            counts.disk += try await removeOnDisk(source, [.original])
        }
        return counts
    }

    /// Makes the entries of a source stale, as the disk tier has marked its record; without a record they go.
    private func markStale(_ source: CacheKey) async {
        if var record = await disk.sourceRecord(for: source) {
            // Also if the disk tier could not write that.
            record.reuse.directives.insert(.mustConfirm)
            update(record)
        } else {
            memory.removeAll(ofSource: source)
            openFiles.removeAll(ofSource: source)
        }
    }
}

extension [TagLink] {
    /// What tokens are given for.
    var keys: [CacheKey] { flatMap { [$0.result, $0.source] } }
}

/// Collects what the writer finds.
private final class FoundLinks: Sendable {
    private let found = Mutex<[TagLink]>([])

    var links: [TagLink] { found.withLock { $0 } }

    func append(_ some: [TagLink]) { found.withLock { $0 += some } }
}
