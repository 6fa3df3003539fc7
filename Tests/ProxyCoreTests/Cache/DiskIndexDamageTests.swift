// SPDX-License-Identifier: Apache-2.0

import GRDB
import Synchronization
import TestSupport
import Testing

@testable import ProxyCore

/// What is altered in the index, and is sound SQLite all the same.
@Suite("Disk tier: an index that lies")
struct DiskIndexDamageTests {
    let folder: TemporaryDirectory
    let notices = Observed<[DiskNotice]>([])
    private let body = bytes(64)

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func open(_ name: String = "cache") async throws -> DiskCache {
        let notices = notices
        let disk = try DiskCache(
            directory: folder.path + "/" + name, clock: { 1_000_000 },
            report: { notice in notices.update { $0.append(notice) } })
        // The sweep that comes upon the damage fails; the next one finds another index.
        for _ in 0..<10 where !(await disk.isLoaded()) {}
        #expect(disk.statistics.isComplete)
        return disk
    }

    private func alter(_ change: String) throws {
        let index = try DatabaseQueue(path: folder.path + "/cache/index.sqlite")
        try index.write { try $0.execute(sql: "UPDATE entry SET \(change) WHERE id = 3") }
        try index.close()
    }

    private static let changes = [
        "high = high + 1", "low = low - 1", "kind = 1", "kind = 77", "sourceHigh = 0",
        "sourceLow = sourceLow + 1",
        "bytes = 1000000000000", "storedAt = 1", "checksum = checksum + 1", "checksum = NULL",
        "bytes = 'text'", "kind = 'text'",
        "accessedAt = 'text'", "high = x'00'",
    ]

    @Test("An entry's row that was altered has the index made anew at the start", arguments: changes)
    func alteredBeforeStart(change: String) async throws {
        var disk = try await open()
        for number in 0..<10 { try await disk.store(describe("\(number)", body: body), body: body) }
        let tally = disk.statistics.tally
        await disk.close()
        try alter(change)

        disk = try await open()
        #expect(notices.value.contains(.indexReplaced))
        #expect(disk.statistics.tally == tally)
        for number in 0..<10 {
            let hit = try await disk.lookUp(key("\(number)"), kind: .result, keyText: "\(number)")
            #expect(try hit?.body.readAll() == body)
        }
        #expect(try await disk.removeAll(ofSource: key("source")) == 10)
        await disk.close()
    }

    @Test(
        "A schema that was altered has the index made anew, by the settling of a batch, too",
        arguments: [false, true])
    func alteredSchema(isInBatch: Bool) async throws {
        var disk = try await open()
        for number in 0..<10 { try await disk.store(describe("\(number)", body: body), body: body) }
        await disk.close()
        if isInBatch {
            let root = try DiskFolder(path: folder.path + "/cache")
            let block = CommitJournal.Block(entries: [EntryID(kind: .result, key: key("3"))])
            try CommitJournal(folder: root, capacity: 128).write(block)
        }
        let index = try DatabaseQueue(path: folder.path + "/cache/index.sqlite")
        try await index.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA writable_schema = ON")
            try db.execute(
                sql: "UPDATE sqlite_master SET sql = replace(sql, 'bytes INTEGER', 'bytds INTEGER')")
        }
        try index.close()

        disk = try await open()

        #expect(notices.value.contains(.indexReplaced))
        for number in 0..<10 {
            let hit = try await disk.lookUp(key("\(number)"), kind: .result, keyText: "\(number)")
            #expect(try hit?.body.readAll() == body)
        }
        await disk.close()
    }

    @Test("A page that shows its damage only where it is changed has the index made anew by the start")
    func damagedPage() async throws {
        var disk = try await open()
        for number in 0..<10 { try await disk.store(describe("\(number)", body: body), body: body) }
        await disk.close()
        // One more than the index knows of, so that the start has to change the page.
        let root = try DiskFolder(path: folder.path + "/cache")
        try RevocationCount(folder: root).write(
            disk.parts.index.revocations.load(ordering: .acquiring) + 1, durable: false)
        let index = try DatabaseQueue(path: folder.path + "/cache/index.sqlite")
        let (page, size) = try await index.read { db in
            (
                try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'seal'") ?? 0,
                try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0
            )
        }
        try index.close()
        var file = try folder.read("cache/index.sqlite")
        // Where the page's first free block begins: within its head, where none can be.
        file[(page - 1) * size + 2] = 4
        try folder.write(file, to: "cache/index.sqlite")

        disk = try await open()

        #expect(notices.value.contains(.indexReplaced))
        for number in 0..<10 {
            let hit = try await disk.lookUp(key("\(number)"), kind: .result, keyText: "\(number)")
            #expect(try hit?.body.readAll() == body)
        }
        await disk.close()
    }

    @Test("A purge removes an original although the index says that it is another source's")
    func purgeOfMisplacedOriginal() async throws {
        let disk = try await open()
        let description = describe("source", kind: .original, body: body)
        try await disk.store(description, body: body)
        try await disk.parts.index.pool.write {
            try $0.execute(sql: "UPDATE entry SET sourceLow = 0")
        }

        #expect(try await disk.removeAll(ofSource: key("source")) == 1)
        #expect(try await disk.lookUp(key("source"), kind: .original, keyText: "source") == nil)
        await disk.close()
    }

    @Test("Changes that are lost with a frame of the log do not lose files", arguments: [0.01, 0.3, 0.9])
    func alteredLog(place: Double) async throws {
        let killed = try await open()
        for number in 0..<40 { try await killed.store(describe("\(number)", body: body), body: body) }
        for name in folder.files where !name.hasSuffix("lock") {
            try folder.write(try folder.read(name), to: "copy/" + name.dropFirst("cache/".count))
        }
        await killed.close()
        var log = try folder.read("copy/index.sqlite-wal")
        #expect(!WriteAheadLog.hasLostFrames(log))
        log[Int(Double(log.count) * place)] ^= 0x10
        #expect(WriteAheadLog.hasLostFrames(log))
        try folder.write(log, to: "copy/index.sqlite-wal")

        let disk = try await open("copy")

        #expect(disk.statistics.tally.entries == 40)
        #expect(try await disk.removeAll(ofSource: key("source")) == 40)
        await disk.close()
    }

    /// Copies the folder as a daemon leaves it that is killed now.
    private func copyAsKilled() throws {
        for name in folder.files where !name.hasSuffix("lock") && name.hasPrefix("cache/") {
            try folder.write(try folder.read(name), to: "copy/" + name.dropFirst("cache/".count))
        }
    }

    /// A daemon killed after it has purged one source by its tag and replaced another's record.
    private func killAfterRevocations() async throws {
        let first = try await open()
        for source in ["replaced", "purged", "left"] { try await first.save(record(source, lifetime: 600)) }
        try await first.link([TagLink(tag: "spring", result: key("r"), source: key("purged"))])
        await first.close()

        let killed = try await open()
        try await killed.save(record("replaced", content: "other", lifetime: 600))
        _ = try await killed.removeAll(taggedWith: "spring") { _ in }
        var purged = record("purged", lifetime: 600)
        purged.directives.insert(.purged)
        try await killed.save(purged)
        try copyAsKilled()
        await killed.close()
    }

    /// Whether what the index says of both sources is as it was at the end, or to be asked about.
    private func forgetsNothing(_ disk: DiskCache) async throws -> Bool {
        let replaced = await disk.sourceRecord(for: key("replaced"))
        let purged = await disk.sourceRecord(for: key("purged"))
        let isNew = replaced?.contentHash == record("replaced", content: "other").contentHash
        return (replaced.map { isNew || $0.directives.contains(.purged) } ?? true)
            && purged?.directives.contains(.purged) ?? true
    }

    @Test("A killed daemon's log that is there as a whole leaves records as they were")
    func soundLog() async throws {
        try await killAfterRevocations()

        let disk = try await open("copy")

        #expect(try await forgetsNothing(disk))
        #expect(await disk.sourceRecord(for: key("left")) == record("left", lifetime: 600))
        await disk.close()
    }

    @Test(
        "Purges and replacements that are lost with a log that is gone have the origin asked",
        arguments: [nil, 0])
    func lostLog(length: Int?) async throws {
        try await killAfterRevocations()
        if length == nil {
            try folder.remove("copy/index.sqlite-wal")
        } else {
            try folder.write([], to: "copy/index.sqlite-wal")
        }

        var disk = try await open("copy")
        #expect(try await forgetsNothing(disk))
        let left = try #require(await disk.sourceRecord(for: key("left")))
        #expect(left.directives.contains(.purged))
        // What the origin has confirmed is believed again, also by the next start.
        try await disk.save(record("left", lifetime: 600))
        await disk.close()

        disk = try await open("copy")
        #expect(await disk.sourceRecord(for: key("left")) == record("left", lifetime: 600))
        #expect(try await forgetsNothing(disk))
        await disk.close()
    }

    @Test("Tags that are lost with a log that is gone have the origin asked: no purge finds them any more")
    func lostTags() async throws {
        let first = try await open()
        try await first.save(record("left", lifetime: 600))
        await first.close()
        let killed = try await open()
        try await killed.link([TagLink(tag: "spring", result: key("r"), source: key("left"))])
        try copyAsKilled()
        await killed.close()
        try folder.remove("copy/index.sqlite-wal")

        let disk = try await open("copy")

        #expect(try await disk.links(ofTag: "spring").isEmpty)
        #expect(await disk.sourceRecord(for: key("left"))?.directives.contains(.purged) == true)
        #expect(disk.mayLackLinks)
        try await disk.removeAll()
        #expect(!disk.mayLackLinks)
        await disk.close()
    }

    @Test("Files whose entries are lost with a log that is gone are found again, and purged")
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
        "What a tag hung on is not believed after a kill in the middle of its purge",
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
        #expect(record?.directives.contains(.purged) == (hasRecord ? true : nil))
        let original = try await disk.lookUp(key("source"), kind: .original, keyText: "source")
        #expect((original != nil) == hasRecord)
        await disk.close()
    }

    @Test("No bit that flips in a killed daemon's log brings back what was purged or replaced")
    func flippedLog() async throws {
        try await killAfterRevocations()
        let whole = try folder.read("copy/index.sqlite-wal")
        for place in stride(from: 3, to: whole.count, by: max(1, whole.count / 40)) {
            for name in folder.files where name.hasPrefix("copy/") {
                try folder.write(try folder.read(name), to: "flipped/" + name.dropFirst("copy/".count))
            }
            var log = whole
            log[place] ^= 0x04
            try folder.write(log, to: "flipped/index.sqlite-wal")

            let disk = try await open("flipped")
            #expect(try await forgetsNothing(disk), "bit at \(place)")
            await disk.close()
            try folder.remove("flipped")
        }
    }

    @Test(
        "A log cut off within a frame, or of an earlier round behind its end, has lost nothing that it shows")
    func soundLogs() async throws {
        let disk = try await open()
        for number in 0..<5 { try await disk.store(describe("\(number)", body: body), body: body) }
        let log = try folder.read("cache/index.sqlite-wal")
        await disk.close()
        let frame = 24 + 4_096
        var older = Array(log.suffix(frame))
        older[8] ^= 1

        #expect(!WriteAheadLog.hasLostFrames([]))
        #expect((log.count - 32) % frame == 0)
        #expect(!WriteAheadLog.hasLostFrames(log + older))
        #expect(!WriteAheadLog.hasLostFrames(Array(log.dropLast(frame))))
        #expect(WriteAheadLog.hasLostFrames(Array(log.dropLast(frame)) + older + log.suffix(frame)))
        #expect(WriteAheadLog.hasLostFrames([UInt8](repeating: 0, count: 100)))
    }
}
