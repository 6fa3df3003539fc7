// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Cache
@testable import Freshness
@testable import Primitives

@Suite("Memory tier")
struct MemoryCacheTests {
    private func cache(
        maxBytes: ByteCount = .mebibytes(1), maxEntries: Int = 0, maxEntryBytes: ByteCount = .kibibytes(64)
    )
        -> MemoryCache
    {
        var configuration = MemoryCacheConfiguration()
        configuration.maxBytes = maxBytes
        configuration.maxEntries = maxEntries
        configuration.maxEntryBytes = maxEntryBytes
        return MemoryCache(configuration: configuration)
    }

    @Test("An entry is found by its key, with its own bytes")
    func findsEntries() throws {
        let cache = cache()
        let entry = memoryEntry("a")

        cache.insert(entry)

        #expect(cache.entry(for: key("a")) === entry)
        #expect(cache.entry(for: key("b")) == nil)
        #expect(cache.statistics.hits == 1 && cache.statistics.misses == 1)
    }

    @Test("Clients that read their answers slowly hold at most as many bytes again")
    func boundsLeases() {
        let cache = cache()
        var held = (0..<40).map { number in
            let lease = cache.lease(60_000)
            if let lease {
                let body = bytes(60_000)
                cache.insert(
                    MemoryEntry(
                        description: describe("\(number)", body: body), body: body,
                        record: record("source"), lease: lease))
            }
            return lease
        }

        #expect(held.count { $0 != nil } == (2 << 20) / 60_000)
        #expect(cache.statistics.heldBytes == (2 << 20) / 60_000 * 60_000)
        #expect(cache.statistics.bytes <= 1 << 20)
        held.removeAll()
        #expect(cache.statistics.heldBytes == cache.statistics.entries * 60_000)
        #expect(cache.lease(60_000) != nil)
        cache.removeAll()
        #expect(cache.statistics.heldBytes == 0)
    }

    @Test("The tier never holds more bytes than allowed, and counts evictions")
    func boundsBytes() {
        let cache = cache()

        for number in 0..<500 { cache.insert(memoryEntry("\(number)", count: 8_000)) }

        let statistics = cache.statistics
        #expect(statistics.bytes <= 1 << 20 && statistics.bytes > 1 << 19)
        #expect(statistics.evictions[.size] == 500 - statistics.entries)
    }

    @Test("The tier never holds more entries than allowed")
    func boundsEntries() {
        let cache = cache(maxBytes: .mebibytes(64), maxEntries: 10, maxEntryBytes: .mebibytes(8))

        for number in 0..<100 { cache.insert(memoryEntry("\(number)")) }

        #expect(cache.statistics.entries == 10)
        #expect(cache.statistics.evictions[.count] == 90)
    }

    @Test("An entry above the maximum size is not stored, and evicts nothing")
    func refusesLargeEntries() {
        let cache = cache()
        cache.insert(memoryEntry("small"))

        let isIn = cache.insert(memoryEntry("large", count: 70_000)) != nil

        #expect(!isIn && cache.entry(for: key("large")) == nil)
        #expect(cache.entry(for: key("small")) != nil)
        #expect(cache.statistics.entries == 1)
    }

    @Test("An entry above the maximum size still replaces an older one")
    func largeEntryReplaces() {
        let cache = cache()
        cache.insert(memoryEntry("a"))

        cache.insert(memoryEntry("a", count: 70_000))

        #expect(cache.entry(for: key("a")) == nil)
        #expect(cache.statistics.bytes == 0)
    }

    @Test("What is requested repeatedly survives what is requested once")
    func keepsWhatIsAskedFor() {
        let cache = cache()
        cache.insert(memoryEntry("hot"))

        for number in 0..<1_000 {
            cache.insert(memoryEntry("\(number)", count: 8_000))
            #expect(cache.entry(for: key("hot")) != nil)
        }
    }

    @Test("A purge removes every entry of the source and of no other")
    func purgesSource() {
        let cache = cache()
        for number in 0..<40 {
            cache.insert(memoryEntry("a\(number)", source: "a"))
            cache.insert(memoryEntry("b\(number)", source: "b"))
        }

        let count = cache.removeAll(ofSource: key("a"))

        #expect(count == 40 && cache.statistics.entries == 40)
        #expect(cache.entry(for: key("a7")) == nil && cache.entry(for: key("b7")) != nil)
        #expect(cache.removeAll(ofSource: key("a")) == 0)
    }

    @Test("A 304 gives all entries of its source the new record and new identities, and keeps their bytes")
    func updatesRecords() throws {
        let cache = cache()
        let old = memoryEntry("a", source: "s")
        cache.insert(old)
        cache.insert(memoryEntry("other", source: "t"))

        cache.update(record("s", lifetime: 9_999))

        let new = try #require(cache.entry(for: key("a")))
        let bytes = (try old.body.readAll(), try new.body.readAll())
        #expect(new.record.reuse.freshnessLifetime == 9_999 && new.id != old.id)
        #expect(bytes.0 == bytes.1)
        #expect(cache.entry(for: key("other"))?.record.reuse.freshnessLifetime == 60)
        #expect(cache.statistics.entries == 2)
    }

    @Test("A record of other bytes removes the entries of the old ones")
    func updateDropsOutdated() {
        let cache = cache()
        cache.insert(memoryEntry("a", source: "s"))

        cache.update(record("s", content: "changed"))

        #expect(cache.entry(for: key("a")) == nil && cache.statistics.bytes == 0)
        #expect(cache.removeAll(ofSource: key("s")) == 0)
    }

    @Test("Under memory pressure the tier shrinks to the given size")
    func shrinks() {
        let cache = cache()
        for number in 0..<100 { cache.insert(memoryEntry("\(number)", count: 8_000)) }

        cache.resize(maxBytes: .kibibytes(100))

        #expect(cache.statistics.bytes <= 100 << 10 && cache.statistics.entries > 0)
        #expect(cache.statistics.evictions[.pressure] ?? 0 > 0)
    }

    @Test("The tier holds no more entries than a new bound allows, none at 0, and more again later")
    func shrinksInEntries() {
        let cache = cache(maxEntries: 100)
        let evictSome = { for number in 0..<100 { cache.insert(memoryEntry("\(number)", count: 100)) } }
        evictSome()

        cache.resize(maxEntries: 20)
        #expect((1...20).contains(cache.statistics.entries))
        cache.resize(maxEntries: 0)
        #expect(cache.statistics.entries == 0)
        #expect(cache.insert(memoryEntry("a", count: 100)) == nil)
        cache.resize(maxEntries: 100)
        evictSome()
        #expect(cache.statistics.entries > 20)
        #expect(cache.evictedForSpace > 0 || cache.statistics.entries == 100)
    }

    @Test("The tier removes entries on demand, whatever its bounds")
    func sheds() {
        let cache = cache(maxEntries: 1_600)
        for number in 0..<200 { cache.insert(memoryEntry("\(number)", count: 100)) }

        let gone = cache.evictSome(32)

        #expect((16...48).contains(gone) && cache.statistics.entries == 200 - gone)
    }

    @Test("Only the first caller is elected to refresh an entry, until it gives up")
    func electsOneRefresher() {
        let entry = memoryEntry("a")

        #expect(entry.beginRefresh() && !entry.beginRefresh())
        entry.endRefresh()
        #expect(entry.beginRefresh())
    }

    @Test("Only some hits of an entry are reported to the disk tier")
    func touchesOnceAWhile() {
        let entry = memoryEntry("a")

        #expect(!entry.shouldRecordAccess(at: 1_000_059, every: 60))
        #expect(
            entry.shouldRecordAccess(at: 1_000_060, every: 60)
                && !entry.shouldRecordAccess(at: 1_000_061, every: 60))
    }

    @Test(
        "Without a configured size the tier takes a tenth of the machine's memory, in as many shards as possible"
    )
    func takesDefaults() {
        let statistics = MemoryCache(configuration: MemoryCacheConfiguration()).statistics

        #expect(statistics.maxBytes > 0 && statistics.maxBytes <= 1 << 30)
    }

    @Test("An entry that is evicted while it is in use is found again until its last use ends")
    func findsWeakEntries() {
        let cache = cache(maxBytes: .mebibytes(1), maxEntryBytes: .kibibytes(128))
        var used: MemoryEntry? = memoryEntry("used", count: 100_000)
        if let used { cache.insert(used) }
        cache.insert(memoryEntry("unused", count: 100_000))

        for number in 0..<20 { cache.insert(memoryEntry("\(number)", count: 100_000)) }
        #expect(cache.peek(key("used")) == nil)
        #expect(cache.entry(for: key("unused")) == nil)
        #expect(cache.entry(for: key("used")) === used)
        #expect(cache.peek(key("used")) === used && cache.statistics.bytes <= 1 << 20)

        for number in 20..<60 { cache.insert(memoryEntry("\(number)", count: 100_000)) }
        used = nil
        #expect(cache.entry(for: key("used")) == nil)
    }

    @Test("An evicted entry in use is not found again once its source was purged or revalidated")
    func forgetsWeakEntries() {
        for step in 0..<4 {
            let cache = cache(maxBytes: .mebibytes(1), maxEntryBytes: .kibibytes(128))
            let used = memoryEntry("used", count: 100_000)
            cache.insert(used)
            for number in 0..<20 { cache.insert(memoryEntry("\(number)", source: "other", count: 100_000)) }

            switch step {
            case 0: cache.removeAll(ofSource: key("source"))
            case 1: cache.remove(key("used"))
            case 2: cache.removeAll()
            default: cache.update(record(content: "new"))
            }

            #expect(cache.entry(for: key("used")) == nil, "step \(step)")
            withExtendedLifetime(used) {}
        }
    }

    @Test("An evicted entry in use is unaffected by new records of other sources")
    func leavesOtherWeakEntries() {
        let cache = cache(maxBytes: .mebibytes(1), maxEntryBytes: .kibibytes(128))
        let used = memoryEntry("used", count: 100_000)
        cache.insert(used)
        for number in 0..<20 { cache.insert(memoryEntry("\(number)", source: "other", count: 100_000)) }
        #expect(cache.peek(key("used")) == nil)

        cache.update(record("third", content: "new"))
        cache.removeAll(ofSource: key("third"))

        #expect(cache.entry(for: key("used")) === used)
    }

    @Test("The bound of entries holds, however small it is", arguments: [1, 3, 4, 17, 100])
    func boundsFew(most: Int) {
        let cache = cache(maxBytes: .mebibytes(64), maxEntries: most)
        let resized = self.cache(maxBytes: .mebibytes(64), maxEntries: 1_000)
        for number in 0..<1_000 {
            cache.insert(memoryEntry("\(number)"))
            resized.insert(memoryEntry("\(number)"))
        }
        resized.resize(maxEntries: most)

        #expect((1...most).contains(cache.statistics.entries))
        #expect((1...most).contains(resized.statistics.entries))
    }

    @Test("Many concurrent tasks leave the tier within its bounds, with correct counts")
    func isSafeToShare() async {
        let cache = cache(maxBytes: .mebibytes(2), maxEntryBytes: .kibibytes(16))

        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<400 {
                        let name = "\(number % 97)"
                        if cache.entry(for: key(name)) == nil {
                            cache.insert(memoryEntry(name, count: 9_000))
                        }
                        if number % 50 == task { cache.removeAll(ofSource: key("source")) }
                        if number % 60 == task { cache.update(record(lifetime: Int64(number))) }
                    }
                }
            }
        }

        let statistics = cache.statistics
        #expect(statistics.bytes <= 2 << 20)
        #expect(statistics.hits + statistics.misses == 3_200)
        #expect(cache.removeAll() == statistics.entries && cache.statistics.bytes == 0)
    }
}
