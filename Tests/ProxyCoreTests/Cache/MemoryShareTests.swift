// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Cache
@testable import Freshness
@testable import Primitives

@Suite("The memory tier's bound and the tables that share it")
struct MemoryShareTests {
    private func newCache(maxBytes: ByteCount = .mebibytes(4)) -> MemoryCache {
        var configuration = MemoryCacheConfiguration()
        configuration.maxBytes = maxBytes
        configuration.maxEntryBytes = .kibibytes(64)
        return MemoryCache(configuration: configuration)
    }

    private func fill(_ cache: MemoryCache) {
        for number in 0..<200 { cache.insert(memoryEntry("\(number)", count: 40_000)) }
    }

    @Test("Entries shrink by what a table holds, and get it back when the table is released")
    func sharesBound() {
        let cache = newCache()
        fill(cache)
        let before = cache.statistics.bytes
        var share: MemoryShare? = MemoryShare(of: cache, dividedBy: 4)

        share?.change(by: 1 << 20)
        let beside = cache.statistics.bytes
        fill(cache)
        let refilled = cache.statistics.bytes
        share = nil
        fill(cache)

        #expect(before > 3_500_000)
        #expect(beside <= 3 << 20 && refilled <= 3 << 20 && refilled > 2 << 20)
        #expect(cache.statistics.bytes > 3_500_000)
    }

    @Test("Entries keep half of the bound, whatever tables hold")
    func keepsHalf() {
        let cache = newCache()
        let share = MemoryShare(of: cache, dividedBy: 4)

        share.change(by: 64 << 20)
        fill(cache)

        #expect(cache.statistics.bytes <= 2 << 20 && cache.statistics.bytes > 1_500_000)
    }

    @Test("A table's limit follows the bound, also under memory pressure")
    func followsBound() {
        let cache = newCache()
        let share = MemoryShare(of: cache, dividedBy: 8)

        #expect(share.limit == 512 << 10)
        cache.resize(maxBytes: .mebibytes(1))
        #expect(share.limit == 128 << 10)
    }

    @Test("An entry counts with every text that a client or an origin decides")
    func countsTexts() {
        let body = bytes(100)
        var record = record()
        let plain = MemoryEntry(description: describe("a", body: body), body: body, record: record)
        record.keyText += String(repeating: "k", count: 8_000)
        record.reuse.entityTag = "\"" + String(repeating: "e", count: 500) + "\""
        record.reuse.lastModified = String(repeating: "m", count: 60)
        record.reuse.reuseFields.append(
            HeaderField(name: "expires", value: String(repeating: "r", count: 1_000)))
        let long = MemoryEntry(description: describe("a", body: body), body: body, record: record)

        #expect(long.cost - plain.cost > 8_000 + 490 + 25 + 1_000)
    }

    @Test("Source records in memory are bounded by bytes, and the most recently used stay")
    func boundsRecords() {
        let share = MemoryShare(bytes: 1 << 20)
        let records = RecordMemory(limit: 10_000, share: share)
        for number in 0..<1_000 {
            var record = record("\(number)")
            record.keyText = String(repeating: "a", count: 8_000)
            #expect(records.save(record, nil))
        }

        #expect(share.bytes <= 1 << 20 && share.bytes > 1_000_000)
        #expect(records.record(for: key("999")) != nil && records.record(for: key("0")) == nil)
        records.removeAll()
        #expect(share.bytes == 0)
    }

    @Test("A record that was read stays in memory unless one of its source was saved or removed meanwhile")
    func readRecords() {
        let records = RecordMemory(limit: 10, share: MemoryShare(bytes: 1 << 20))
        let read = record("read")
        var revision = records.revision(of: read.key)
        #expect(records.save(record("other"), nil))
        records.keep(read, readAt: revision)
        #expect(records.record(for: read.key) == read)

        for change in [{ records.remove(read.key) }, { records.removeAll() }] {
            revision = records.revision(of: read.key)
            change()
            records.keep(read, readAt: revision)
            #expect(records.record(for: read.key) == nil)
        }
    }

    @Test("The table of the latest records stores no source's text")
    func latestRecords() throws {
        let purgeLog = PurgeLog()
        var record = record()
        record.keyText = String(repeating: "a", count: 8_000)
        let entry = MemoryEntry(description: describe("r", body: [1]), body: [1], record: record)
        let token = purgeLog.token(for: key("r"))
        var newer = record
        newer.reuse.freshnessLifetime = 600

        let claim = try #require(
            purgeLog.claim(newer, receivedAt: .now, under: purgeLog.token(for: record.key)))

        #expect(claim.isValid)
        #expect(LatestRecords.Item(record: newer, receivedAt: .now, number: 1).record.textBytes < 512)
        // An entry with an older record gets the newer one, with the text of the older one.
        #expect(token.current(entry)?.record == newer)
    }

    @Test("Small pending originals are bounded by bytes")
    func boundsBuffer() {
        let buffer = WriteBuffer(maxBytes: 100_000)
        let body = bytes(30_000)
        let writes = ["a", "b", "c"].map { name in
            PendingWrite(describe(name, body: body), body: body, checksum: 0, record: nil, token: nil)
        }
        let another = PendingWrite(
            describe("d", body: body), body: body, checksum: 0, record: nil, token: nil)

        #expect(writes.allSatisfy { buffer.insert($0) } && !buffer.insert(another))
        for write in writes { buffer.remove(write) }
        #expect(buffer.insert(another))
    }
}
