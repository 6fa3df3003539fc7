// SPDX-License-Identifier: Apache-2.0

import Primitives
import Synchronization
import TestSupport
import Testing

@testable import Cache
@testable import Freshness

/// Alterations of the index that are valid SQLite all the same.
@Suite("Disk tier: an index that is wrong")
struct DiskIndexDamageTests {
    let folder: TemporaryDirectory
    let events = Observed<[DiskEvent]>([])
    private let body = bytes(64)

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func open(
        _ name: String = "cache", at now: Int64 = 1_000_000
    ) async throws -> DiskCache {
        let events = events
        let disk = try DiskCache(
            directory: folder.path + "/" + name, clock: { now }, pause: { _ in },
            report: { event in events.update { $0.append(event) } })
        // The sweep that detects the damage fails; the next one finds another index.
        for _ in 0..<10 where !(await disk.isLoaded()) {}
        #expect(disk.statistics.isComplete)
        return disk
    }

    private func alter(_ change: String) throws {
        let index = try SQLiteConnection(path: folder.path + "/cache/index.sqlite", canWrite: true)
        try index.execute("UPDATE entry SET \(change) WHERE id = 3")
        index.close()
    }

    private static let changes = [
        "kind = 77", "bytes = 9223372036854775807", "accessedAt = -9223372036854775807", "bytes = 'text'",
        "kind = 'text'", "accessedAt = 'text'", "high = x'00'",
    ]

    @Test("At the start, an entry's row that no daemon wrote makes the index be rebuilt", arguments: changes)
    func alteredBeforeStart(change: String) async throws {
        var disk = try await open()
        for number in 0..<10 { try await disk.store(describe("\(number)", body: body), body: body) }
        let tally = disk.statistics.tally
        await disk.close()
        try alter(change)

        disk = try await open()
        #expect(events.value.contains(.indexReplaced))
        #expect(disk.statistics.tally == tally)
        for number in 0..<10 {
            let hit = try await disk.lookUp(key("\(number)"), kind: .result, keyText: "\(number)")
            #expect(try hit?.body.readAll() == body)
        }
        #expect(try await disk.removeAll(ofSource: key("source")) == 10)
        await disk.close()
    }

    @Test(
        "A key in which a bit has flipped, in a row or in its copy in the database's own index, neither stops a purge nor outlives it",
        .timeLimit(.minutes(20)), arguments: [0, 1], [false, true])
    func flippedKey(copy: Int, isBySweep: Bool) async throws {
        var disk = try await open()
        for number in 0..<10 { try await disk.store(describe("\(number)", body: body), body: body) }
        await disk.close()
        // SQLite stores integers of 8 bytes as they are, most significant first: once in the row, once in `entryByKey`.
        var file = try folder.read("cache/index.sqlite")
        let number = withUnsafeBytes(of: key("3").low.bigEndian) { Array($0) }
        let places = file.indices.dropLast(7).filter { file[$0..<$0 + 8].elementsEqual(number) }
        try #require(places.count == 2)
        file[places[copy] + 7] ^= 1
        try folder.write(file, to: "cache/index.sqlite")

        // For the sweep all entries are too old.
        disk = try await open(at: isBySweep ? 9_000_000 : 1_000_000)
        if isBySweep {
            try await disk.sweep()
        } else {
            await #expect(throws: DiskCacheError.self) { try await disk.removeAll(ofSource: key("source")) }
        }
        // The next one is of another index, made from the files.
        try await disk.sweep()
        _ = try await disk.removeAll(ofSource: key("source"))
        #expect(events.value.contains(.indexReplaced))
        #expect(folder.entryFiles == [])
        #expect(disk.statistics.tally.entries == 0)
        await disk.close()
    }

    @Test("At the start, an altered schema makes the index be rebuilt")
    func alteredSchema() async throws {
        var disk = try await open()
        for number in 0..<10 { try await disk.store(describe("\(number)", body: body), body: body) }
        await disk.close()
        let index = try SQLiteConnection(path: folder.path + "/cache/index.sqlite", canWrite: true)
        try index.execute(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = replace(sql, 'bytes INTEGER', 'bytds INTEGER')
            """)
        index.close()

        disk = try await open()

        #expect(events.value.contains(.indexReplaced))
        for number in 0..<10 {
            let hit = try await disk.lookUp(key("\(number)"), kind: .result, keyText: "\(number)")
            #expect(try hit?.body.readAll() == body)
        }
        await disk.close()
    }

    @Test("At the start, a damaged page of the index's state makes the index be rebuilt")
    func damagedPage() async throws {
        var disk = try await open()
        for number in 0..<10 { try await disk.store(describe("\(number)", body: body), body: body) }
        await disk.close()
        let index = try SQLiteConnection(path: folder.path + "/cache/index.sqlite", canWrite: true)
        let page = Int(try index.integer("SELECT rootpage FROM sqlite_master WHERE name = 'state'") ?? 0)
        let size = Int(try index.integer("PRAGMA page_size") ?? 0)
        index.close()
        var file = try folder.read("cache/index.sqlite")
        // The kind of the page; there is none of this number.
        file[(page - 1) * size] = 0
        try folder.write(file, to: "cache/index.sqlite")

        disk = try await open()

        #expect(events.value.contains(.indexReplaced))
        for number in 0..<10 {
            let hit = try await disk.lookUp(key("\(number)"), kind: .result, keyText: "\(number)")
            #expect(try hit?.body.readAll() == body)
        }
        await disk.close()
    }

    @Test("A purge removes an original although the index attributes it to another source")
    func purgeOfMisplacedOriginal() async throws {
        let disk = try await open()
        let description = describe("source", kind: .original, body: body)
        try await disk.store(description, body: body)
        try disk.storage.index.writer.change {
            try $0.execute("UPDATE entry SET sourceLow = 0")
        }

        #expect(try await disk.removeAll(ofSource: key("source")) == 1)
        #expect(try await disk.lookUp(key("source"), kind: .original, keyText: "source") == nil)
        await disk.close()
    }

    /// Copies the folder as a daemon leaves it that is killed now.
    private func copyAsKilled() throws {
        for name in folder.files where !name.hasSuffix("lock") && name.hasPrefix("cache/") {
            try folder.write(try folder.read(name), to: "copy/" + name.dropFirst("cache/".count))
        }
    }

    /// A daemon killed after it has purged one source by its tag and replaced another's record.
    private func killAfterInvalidation() async throws {
        let first = try await open()
        for source in ["replaced", "purged", "left"] { try await first.save(record(source, lifetime: 600)) }
        try await first.link([TagLink(tag: "spring", result: key("r"), source: key("purged"))])
        await first.close()

        let killed = try await open()
        try await killed.save(record("replaced", content: "other", lifetime: 600))
        _ = try await killed.removeAll(taggedWith: "spring") { _ in }
        var purged = record("purged", lifetime: 600)
        purged.reuse.directives.insert(.mustConfirm)
        try await killed.save(purged)
        try copyAsKilled()
        await killed.close()
    }

    /// Whether the index's facts about both sources are as they were at the end, or marked as stale.
    private func forgetsNothing(_ disk: DiskCache) async throws -> Bool {
        let replaced = await disk.sourceRecord(for: key("replaced"))
        let purged = await disk.sourceRecord(for: key("purged"))
        let isNew = replaced?.contentHash == record("replaced", content: "other").contentHash
        return (replaced.map { isNew || $0.reuse.directives.contains(.mustConfirm) } ?? true)
            && purged?.reuse.directives.contains(.mustConfirm) ?? true
    }

    @Test("What was purged and replaced before a kill still is after it")
    func soundLog() async throws {
        try await killAfterInvalidation()

        let disk = try await open("copy")

        #expect(try await forgetsNothing(disk))
        #expect(await disk.sourceRecord(for: key("left")) == record("left", lifetime: 600))
        await disk.close()
    }

    @Test("Files whose rows were lost with a missing log are found again, and can be purged")
    func lostEntries() async throws {
        await (try await open()).close()
        let killed = try await open()
        for number in 0..<5 { try await killed.store(describe("\(number)", body: body), body: body) }
        try copyAsKilled()
        try folder.write(try folder.read("cache/lock"), to: "copy/lock")
        await killed.close()
        try folder.remove("copy/index.sqlite-wal")

        let disk = try await open("copy")

        #expect(disk.statistics.tally.entries == 5)
        #expect(try await disk.removeAll(ofSource: key("source")) == 5)
        await disk.close()
    }

    @Test(
        "After a kill in the middle of a tag's purge, the tag's results are not fresh",
        arguments: [true, false])
    func killedPurge(hasRecord: Bool) async throws {
        let killed = try await open()
        let description = describe("source", kind: .original, body: body)
        try await killed.store(description, body: body)
        if hasRecord { try await killed.save(record("source", lifetime: 600)) }
        try await killed.link([TagLink(tag: "spring", result: key("r"), source: key("source"))])
        let count = try await killed.removeAll(taggedWith: "spring") { _ in }
        try copyAsKilled()
        await killed.close()

        let disk = try await open("copy")

        #expect(count == (hasRecord ? 0 : 1))
        #expect(try await disk.links(ofTag: "spring").isEmpty)
        let record = await disk.sourceRecord(for: key("source"))
        #expect(record?.reuse.directives.contains(.mustConfirm) == (hasRecord ? true : nil))
        let original = try await disk.lookUp(key("source"), kind: .original, keyText: "source")
        #expect((original != nil) == hasRecord)
        await disk.close()
    }
}
