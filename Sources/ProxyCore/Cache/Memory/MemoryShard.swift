// SPDX-License-Identifier: Apache-2.0

import Freshness
import Primitives

/// One part of the memory tier, under a lock of its own: a ring of entries, their sources, and its counters.
///
/// Pure. Removed entries are returned to the caller, who frees them after the lock is released.
struct MemoryShard: Sendable {
    /// Bounds of one shard.
    struct Bounds: Sendable {
        /// Most bytes.
        var maxBytes: Int
        /// Most entries.
        var maxEntries: Int
        /// A larger entry is not stored, in bytes.
        var maxEntryBytes: Int
        /// Most entries that one insertion may evict.
        var maxEvictions: Int
    }

    /// The present bounds.
    var bounds: Bounds
    /// Look-ups that found an entry.
    private(set) var hits = 0
    /// Look-ups that found none.
    private(set) var misses = 0
    /// Entries that were removed, by reason.
    private(set) var evictions: [EvictionReason: Int] = [:]

    private var ring: EvictionRing<CacheKey, MemoryEntry>
    private var weakEntries: WeakEntryTable
    /// The keys of each source's entries in this shard.
    private var keysBySource: [CacheKey: [CacheKey]] = [:]

    /// Creates an empty shard.
    ///
    /// - Parameter maxWeakEntries: evicted entries that are found again while they are in use.
    init(bounds: Bounds, scanLimit: Int, maxWeakEntries: Int = 0) {
        self.bounds = bounds
        weakEntries = WeakEntryTable(capacity: maxWeakEntries)
        ring = EvictionRing(scanLimit: scanLimit)
    }

    /// The number of entries.
    var count: Int { ring.count }

    /// The bytes they count.
    var bytes: Int { ring.cost }

    /// Hot path: returns the entry, sets its hit bit, and counts.
    ///
    /// - Parameter leaving: the entries that were evicted for one that had been evicted itself while it was
    ///   in use.
    mutating func entry(for key: CacheKey, _ leaving: inout [MemoryEntry]) -> MemoryEntry? {
        if let entry = ring.value(for: key) {
            hits += 1
            return entry
        }
        guard let entry = weakEntries.take(key) else {
            misses += 1
            return nil
        }
        hits += 1
        leaving = insert(entry)
        return entry
    }

    /// Returns the entry without setting its hit bit.
    func peek(_ key: CacheKey) -> MemoryEntry? { ring.peek(key) }

    /// Stores an entry and returns those that were evicted for it; the entry itself if it was not accepted.
    mutating func insert(_ entry: MemoryEntry) -> [MemoryEntry] {
        let key = entry.description.key
        var leaving: [MemoryEntry] = []
        if let old = remove(key, because: .replaced) { leaving.append(old) }
        guard entry.cost <= bounds.maxEntryBytes else { return leaving + [entry] }
        freeSpace(for: entry.cost, &leaving)
        guard ring.cost + entry.cost <= bounds.maxBytes, ring.count < bounds.maxEntries else {
            return leaving + [entry]
        }
        if let old = ring.insert(entry, for: key, cost: entry.cost) { leaving.append(old) }
        keysBySource[entry.description.sourceKey, default: []].append(key)
        return leaving
    }

    mutating func remove(_ key: CacheKey, because reason: EvictionReason = .purged) -> MemoryEntry? {
        _ = weakEntries.take(key)
        guard let entry = ring.remove(key) else { return nil }
        forgetSource(of: entry)
        evictions[reason, default: 0] += 1
        return entry
    }

    /// Removes every entry of a source.
    mutating func removeAll(ofSource source: CacheKey) -> [MemoryEntry] {
        weakEntries.removeAll(ofSource: source)
        guard let keys = keysBySource.removeValue(forKey: source) else { return [] }
        let removed = keys.compactMap { ring.remove($0) }
        evictions[.purged, default: 0] += removed.count
        return removed
    }

    /// Removes the entries of each source whose first entry `isRemoved`, and returns them.
    mutating func removeAll(where isRemoved: (MemoryEntry) -> Bool) -> [MemoryEntry] {
        let sources = keysBySource.filter { _, keys in
            keys.first.flatMap { ring.peek($0) }.map(isRemoved) ?? false
        }
        // Evicted entries that are in use: none of them comes back.
        weakEntries.removeAll()
        return sources.keys.flatMap { removeAll(ofSource: $0) }
    }

    /// Entries of a source, at most `limit`.
    func list(ofSource source: CacheKey, limit: Int) -> [MemoryEntry] {
        (keysBySource[source] ?? []).prefix(limit).compactMap { ring.peek($0) }
    }

    /// Removes everything.
    mutating func removeAll() -> [MemoryEntry] {
        keysBySource = [:]
        weakEntries.removeAll()
        evictions[.purged, default: 0] += ring.count
        return ring.removeAll()
    }

    /// Whether it has entries of a source, or evicted ones that are in use.
    func mayHoldEntries(_ source: CacheKey) -> Bool {
        keysBySource[source] != nil || weakEntries.mayHoldEntries(source)
    }

    /// Gives every entry of the record's source that record, and returns the entries that had another one.
    ///
    /// An entry made of other bytes than those of the record is outdated and removed.
    mutating func update(_ record: SourceRecord) -> [MemoryEntry] {
        var leaving: [MemoryEntry] = []
        // They have the older record.
        weakEntries.removeAll(ofSource: record.key)
        for key in keysBySource[record.key] ?? [] {
            guard let entry = ring.peek(key) else { continue }
            if entry.description.sourceHash != record.contentHash {
                if let old = remove(key, because: .replaced) { leaving.append(old) }
            } else if ring.replace(entry.refreshed(with: record), for: key) {
                leaving.append(entry)
            }
        }
        return leaving
    }

    /// Removes at most `limit` entries that the bounds no longer allow.
    mutating func shrink(atMost limit: Int) -> [MemoryEntry] {
        var leaving: [MemoryEntry] = []
        while leaving.count < limit, ring.cost > bounds.maxBytes || ring.count > bounds.maxEntries {
            guard let entry = evict(because: .pressure) else { break }
            leaving.append(entry)
        }
        return leaving
    }

    /// Removes at most `count` entries, whatever the bounds allow.
    mutating func evictSome(_ count: Int) -> [MemoryEntry] {
        var leaving: [MemoryEntry] = []
        while leaving.count < count, let entry = evict(because: .pressure) { leaving.append(entry) }
        return leaving
    }

    private mutating func freeSpace(for cost: Int, _ leaving: inout [MemoryEntry]) {
        for _ in 0..<bounds.maxEvictions {
            let isOverBytes = ring.cost + cost > bounds.maxBytes
            guard isOverBytes || ring.count >= bounds.maxEntries else { return }
            guard let entry = evict(because: isOverBytes ? .size : .count) else { return }
            leaving.append(entry)
        }
    }

    private mutating func evict(because reason: EvictionReason) -> MemoryEntry? {
        guard let evicted = ring.evict() else { return nil }
        forgetSource(of: evicted.value)
        weakEntries.insert(evicted.value)
        evictions[reason, default: 0] += 1
        return evicted.value
    }

    private mutating func forgetSource(of entry: MemoryEntry) {
        let source = entry.description.sourceKey
        guard var keys = keysBySource.removeValue(forKey: source) else { return }
        if let index = keys.firstIndex(of: entry.description.key) { keys.swapAt(index, keys.count - 1) }
        keys.removeLast()
        if !keys.isEmpty { keysBySource[source] = keys }
    }
}
