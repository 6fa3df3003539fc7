// SPDX-License-Identifier: Apache-2.0

package import Freshness
import Glibc
package import Primitives
import Synchronization

/// The memory tier: whole pictures by key, in shards, bounded by bytes and count, with SIEVE
/// eviction.
///
/// Safe from any thread. A look-up takes one shard's lock for some tens of nanoseconds; removed entries are
/// freed after the lock is released. A shard accepts entries of at most an eighth of its size, so that none
/// evicts all others.
package final class MemoryCache: Sendable {
    /// The tier's contents and counters.
    package struct Statistics: Sendable, Equatable {
        /// Entries now.
        package var entries = 0
        /// The bytes they count now.
        package var bytes = 0
        /// The bound now, in bytes.
        package var maxBytes = 0
        /// Bytes of bodies that were evicted and are still being sent, with those in the tier.
        package var heldBytes = 0
        /// Look-ups that found an entry.
        package var hits = 0
        /// Look-ups that found none.
        package var misses = 0
        /// Entries that were removed, by reason.
        package var evictions: [EvictionReason: Int] = [:]
    }

    private final class Shard: Sendable {
        let state: Mutex<MemoryShard>

        init(_ shard: MemoryShard) {
            state = Mutex(shard)
        }
    }

    private let configuration: MemoryCacheConfiguration
    private let shards: [Shard]
    private let leases = MemoryLeases()
    private let bound: Atomic<Int>
    private let entryBound: Atomic<Int>
    /// The part of the bound that tables beside the entries hold, and by how much of that the shards' bounds
    /// have been lowered.
    private let reserved = Atomic<Int>(0)
    private let applied = Atomic<Int>(0)
    /// If this is itself a table beside another tier's entries: what it may hold there.
    private let share: MemoryShare?

    /// Creates an empty tier.
    ///
    /// - Parameters:
    ///   - configuration: its bounds.
    ///   - share: the part of another tier's bound that its entries count as. Such a tier must not remember evicted
    ///     entries, since `entry(for:)` brings one back without reporting it to the share.
    package init(configuration: MemoryCacheConfiguration, share: MemoryShare? = nil) {
        self.configuration = configuration
        self.share = share
        let maxBytes = Self.size(of: configuration)
        let count = Self.shardCount(configuration, maxBytes: maxBytes)
        let maxEntries = configuration.maxEntries == 0 ? Int.max : configuration.maxEntries
        shards = (0..<count).map { number in
            Shard(
                MemoryShard(
                    bounds: Self.bounds(
                        configuration, maxBytes: maxBytes, maxEntries: maxEntries, of: number, shards: count),
                    scanLimit: configuration.limits.scanLimit,
                    maxWeakEntries: configuration.limits.maxWeakEntries / count))
        }
        bound = Atomic(maxBytes)
        entryBound = Atomic(maxEntries)
    }

    /// How many bytes a tier with this configuration may hold.
    package static func size(of configuration: MemoryCacheConfiguration) -> Int {
        configuration.maxBytes.bytes > 0 ? configuration.maxBytes.bytes : shareOfMachine()
    }

    /// Reserves so many bytes for an entry; nil while slow clients hold so much that more than twice the
    /// bound would be in memory.
    package func lease(_ bytes: Int) -> MemoryLease? {
        let limit = bound.load(ordering: .relaxed).multipliedReportingOverflow(by: 2)
        return leases.lease(bytes, limit: limit.overflow ? .max : limit.partialValue)
    }

    /// Hot path: returns the entry of `key` and sets its hit bit; one lock, no allocation.
    package func entry(for key: CacheKey) -> MemoryEntry? {
        // Freed after the lock is released.
        var leaving: [MemoryEntry] = []
        return shard(of: key).state.withLock { $0.entry(for: key, &leaving) }
    }

    /// Returns the entry of `key` without counting it or setting its hit bit.
    package func peek(_ key: CacheKey) -> MemoryEntry? {
        shard(of: key).state.withLock { $0.peek(key) }
    }

    /// Changes one shard under its lock, and reports the change in bytes to the share.
    private func change<Result>(_ shard: Shard, _ body: (inout MemoryShard) -> Result) -> Result {
        let (result, bytes) = shard.state.withLock { shard in
            let before = shard.bytes
            return (body(&shard), shard.bytes - before)
        }
        share?.change(by: bytes)
        return result
    }

    /// Stores an entry in place of one with the same key, with the latest record of its source since the token was issued, and
    /// returns it; nil if it is too large, its token void, or its content outdated.
    @discardableResult
    package func insert(_ entry: MemoryEntry, token: PurgeToken? = nil) -> MemoryEntry? {
        let (current, leaving) = change(shard(of: entry.description.key)) { shard in
            // A later record is recorded before the shards are updated: it is known here, or the update comes.
            let current = token.map { $0.current(entry) } ?? entry
            return (current, current.map { shard.insert($0) } ?? [])
        }
        return leaving.last === current ? nil : current
    }

    /// Removes one entry; false if there is none.
    @discardableResult
    package func remove(_ key: CacheKey) -> Bool {
        change(shard(of: key)) { $0.remove(key) } != nil
    }

    /// Removes all entries made from a source and returns how many; one lock a shard.
    @discardableResult
    package func removeAll(ofSource source: CacheKey) -> Int {
        shards.reduce(0) { sum, shard in
            sum + change(shard) { $0.removeAll(ofSource: source) }.count
        }
    }

    /// Removes the entries of each source whose first entry `isRemoved`, and returns how many; one lock a shard.
    @discardableResult
    package func removeAll(where isRemoved: (MemoryEntry) -> Bool) -> Int {
        shards.reduce(0) { sum, shard in sum + change(shard) { $0.removeAll(where: isRemoved) }.count }
    }

    /// Removes a source's own bytes, under whatever key, and returns how many entries that were.
    package func removeOriginals(ofSource source: CacheKey) -> Int {
        shards.reduce(0) { sum, shard in
            sum
                + change(shard) { shard in
                    shard.list(ofSource: source, limit: .max).filter { $0.description.kind == .original }
                        .compactMap { shard.remove($0.description.key) }
                }.count
        }
    }

    /// Entries made from a source, at most `limit`.
    package func list(ofSource source: CacheKey, limit: Int) -> [MemoryEntry] {
        var entries: [MemoryEntry] = []
        for shard in shards where entries.count < limit {
            entries += shard.state.withLock { $0.list(ofSource: source, limit: limit - entries.count) }
        }
        return entries
    }

    /// Removes everything and returns how many entries that were.
    @discardableResult
    package func removeAll() -> Int {
        shards.reduce(0) { sum, shard in sum + change(shard) { $0.removeAll() }.count }
    }

    /// Gives all entries of a source its new record, as after a 304; entries made of other bytes are removed.
    ///
    /// - Parameter token: if it is void nothing changes: what is there is newer.
    package func update(_ record: SourceRecord, token: PurgeToken? = nil) {
        for shard in shards {
            // Freed after the lock is released.
            _ = change(shard) { shard in
                shard.mayHoldEntries(record.key) && token?.isValid ?? true ? shard.update(record) : []
            }
        }
    }

    /// Changes the bound in bytes, as under memory pressure, and evicts what no longer fits.
    package func resize(maxBytes: ByteCount) {
        bound.store(maxBytes.bytes, ordering: .relaxed)
        applyBounds()
    }

    /// Changes the bound in entries, and evicts what no longer fits; 0 keeps none.
    package func resize(maxEntries: Int) {
        entryBound.store(maxEntries, ordering: .relaxed)
        applyBounds()
    }

    /// Evicts about `count` entries, the same number from each shard, and returns how many.
    package func evictSome(_ count: Int) -> Int {
        let each = (count + shards.count - 1) / shards.count
        return shards.reduce(0) { sum, shard in sum + change(shard) { $0.evictSome(each) }.count }
    }

    /// How many bytes the entries and all tables that share the bound may hold together.
    var maxBytes: Int { bound.load(ordering: .relaxed) }

    /// Records that a table beside the entries holds so many bytes more, or fewer; entries are evicted for
    /// it.
    ///
    /// The shards' bounds follow in steps of a 64th of the bound, and keep half of it in any case.
    func reserve(_ bytes: Int) {
        let now = reserved.wrappingAdd(bytes, ordering: .relaxed).newValue
        guard abs(now - applied.load(ordering: .relaxed)) >= max(1, maxBytes / Self.reserveSteps) else {
            return
        }
        applyBounds()
    }

    /// The number of steps in which the entries' bound follows the other tables.
    private static let reserveSteps = 64

    private func applyBounds() {
        let reserved = reserved.load(ordering: .relaxed)
        applied.store(reserved, ordering: .relaxed)
        let maxBytes = maxBytes
        for (number, shard) in shards.enumerated() {
            var bounds = Self.bounds(
                configuration, maxBytes: maxBytes, maxEntries: entryBound.load(ordering: .relaxed),
                of: number,
                shards: shards.count)
            bounds.maxBytes = max(bounds.maxBytes / 2, bounds.maxBytes - max(0, reserved) / shards.count)
            shard.state.withLock { $0.bounds = bounds }
            while !change(shard, { $0.shrink(atMost: bounds.maxEvictions) }).isEmpty {}
        }
    }

    /// The tier's contents and counters; takes each shard's lock in turn.
    package var statistics: Statistics {
        var sum = Statistics(maxBytes: bound.load(ordering: .relaxed), heldBytes: leases.heldBytes)
        for shard in shards {
            let part = shard.state.withLock { shard in
                Statistics(
                    entries: shard.count, bytes: shard.bytes, hits: shard.hits, misses: shard.misses,
                    evictions: shard.evictions)
            }
            sum.entries += part.entries
            sum.bytes += part.bytes
            sum.hits += part.hits
            sum.misses += part.misses
            sum.evictions.merge(part.evictions, uniquingKeysWith: +)
        }
        return sum
    }

    /// How many entries were evicted for others so far.
    package var evictedForSpace: Int {
        shards.reduce(0) { sum, shard in
            sum + shard.state.withLock { ($0.evictions[.size] ?? 0) + ($0.evictions[.count] ?? 0) }
        }
    }

    private func shard(of key: CacheKey) -> Shard {
        shards[Int(truncatingIfNeeded: key.high) & (shards.count - 1)]
    }

    // MARK: - Bounds

    /// The largest entry is an eighth of a shard (see the type).
    private static let entriesPerShard = 8

    /// As many shards, a power of two, as leave the largest entry within an eighth of one, and an entry for
    /// each.
    private static func shardCount(_ configuration: MemoryCacheConfiguration, maxBytes: Int) -> Int {
        var count = 1
        let smallest = max(1, configuration.maxEntryBytes.bytes * entriesPerShard)
        let most = min(
            configuration.limits.maxShards, configuration.maxEntries == 0 ? .max : configuration.maxEntries)
        while count * 2 <= most, maxBytes / (count * 2) >= smallest { count *= 2 }
        return count
    }

    /// The bounds of one shard, so that all of them together have exactly the tier's.
    private static func bounds(
        _ configuration: MemoryCacheConfiguration, maxBytes: Int, maxEntries: Int, of number: Int, shards: Int
    ) -> MemoryShard.Bounds {
        let bytes = maxBytes / shards
        return MemoryShard.Bounds(
            maxBytes: bytes,
            maxEntries: maxEntries / shards + (number < maxEntries % shards ? 1 : 0),
            maxEntryBytes: min(configuration.maxEntryBytes.bytes, bytes / entriesPerShard),
            maxEvictions: configuration.limits.maxEvictionsPerInsert)
    }

    /// A tenth of the machine's memory, at most 1 GiB.
    private static func shareOfMachine() -> Int {
        let memory = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
        return min(memory / 10, 1 << 30)
    }
}
