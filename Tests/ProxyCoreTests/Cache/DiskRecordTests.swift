// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Bodies
@testable import Cache
@testable import Freshness
@testable import Imaging
@testable import Primitives

/// The records of a source in files and index, and which of them counts.
@Suite("Disk tier: records")
struct DiskRecordTests {
    let folder: TemporaryDirectory
    private let clock = SteppedClock()
    private let body = bytes(64)
    private let noMemory = { (configuration: inout DiskCacheConfiguration) in
        configuration.limits.maxRecordsInMemory = 0
    }

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func open() async throws -> DiskCache {
        let disk = try openDisk(folder, clock, noMemory)
        #expect(await disk.isLoaded())
        return disk
    }

    private func store(_ name: String, as record: SourceRecord, in disk: DiskCache) async throws {
        let description = describe(
            name, source: record.keyText, body: body, storedAt: record.reuse.responseTime.seconds)
        try await disk.store(description, body: body, record: record)
        try await disk.save(record)
    }

    /// The hit whose record is known from memory and its file; the same whether it may block or not.
    private func answer(_ disk: DiskCache, _ name: String = "a") async -> DiskHit? {
        let cached = disk.findCached(name)
        let read = try? await disk.findOnIOThread(key(name), .result, name, .copied)
        #expect(read?.record == cached?.record && read?.description == cached?.description)
        #expect((try? read?.body.readAll()) == (try? cached?.body.readAll()))
        return cached?.record == nil ? nil : cached
    }

    @Test("An entry that needs the disk is answered after waiting for it, and counted once")
    func afterTheWait() async throws {
        let disk = try await open()
        try await store("a", as: record("source"), in: disk)
        let ask = key("a")

        // Without openat2(2) the kernel does not report what is in memory.
        _ = try await LackingKernel.make(without: ["openat2"]) {
            #expect(throws: DiskCacheError.wouldBlock) {
                try disk.find(ask, .result, "a", .cached())
            }
        }
        let hits = disk.statistics.hits
        let hit = try #require(try await disk.findOnIOThread(ask, .result, "a", .copied))
        #expect(
            try hit.body.readAll() == body && hit.record?.reuse.responseTime == WallTime(seconds: 1_000_000))
        disk.countHit(hit)
        #expect(disk.statistics.hits[.result] == (hits[.result] ?? 0) + 1)
        #expect(try await disk.findOnIOThread(ask, .result, "b", .copied) == nil)
        await disk.close()
    }

    @Test(
        "An entry is answered from its file alone, with the freshness of its source's record",
        arguments: [false, true])
    func fromFile(afterRestart: Bool) async throws {
        var disk = try await open()
        let stored = record("source")
        try await store("a", as: stored, in: disk)
        if afterRestart {
            await disk.close()
            disk = try await open()
        }

        let hit = try #require(await answer(disk))

        #expect(try hit.body.readAll() == body)
        let known = try #require(hit.record)
        #expect(
            known.isFresh(at: WallTime(seconds: 1_000_050))
                && !known.isFresh(at: WallTime(seconds: 1_000_057)))
        #expect(
            known.reuse.lastModified == stored.reuse.lastModified
                && known.reuse.directives == stored.reuse.directives)
        #expect(
            known.reuse.staleIfError == 9 && known.reuse.staleWhileRevalidate == nil && known.byteCount == 7)
        await disk.close()
    }

    @Test(
        "A file of any size is answered",
        arguments: [0, 1, 3_775, 3_776, 3_777, 16_000, 16_063, 16_064, 16_065, 70_000])
    func sizes(count: Int) async throws {
        let disk = try await open()
        let body = bytes(count)
        let description = describe("a", body: body, storedAt: 1_000_000)
        try await disk.store(description, body: body, record: record())
        // A larger body must be checked once, by a read that may block.
        _ = try await disk.lookUp(key("a"), kind: .result, keyText: "a")

        #expect(try await answer(disk)?.body.readAll() == body)
        await disk.close()
    }

    @Test("A file that was altered anywhere, truncated or extended gives no answer of its own")
    func altered() async throws {
        let disk = try await open()
        try await store("a", as: record("source"), in: disk)
        let file = try #require(folder.entryFiles.first)
        let whole = try folder.read(file)

        for place in whole.indices {
            var flipped = whole
            flipped[place] ^= 0x04
            try folder.write(flipped, to: file)
            #expect(await answer(disk) == nil, "byte \(place)")
            try await store("a", as: record("source"), in: disk)
        }
        for length in Array(0..<whole.count) + [whole.count + 1] {
            try folder.write(Array((whole + [0]).prefix(length)), to: file)
            #expect(await answer(disk) == nil, "\(length) bytes")
            try await store("a", as: record("source"), in: disk)
        }

        #expect(await answer(disk) != nil)
        await disk.close()
    }

    @Test(
        "Another record of the source makes its files outdated, also after a restart",
        arguments: [false, true])
    func outdated(afterRestart: Bool) async throws {
        var disk = try await open()
        try await store("a", as: record("source"), in: disk)
        try await store("b", as: record("other"), in: disk)
        var purged = record("source")
        purged.reuse.directives.insert(.mustConfirm)
        try await disk.save(purged)
        if afterRestart {
            await disk.close()
            disk = try await open()
        }

        #expect(await answer(disk) == nil)
        #expect(await answer(disk, "b") != nil)
        #expect(await disk.sourceRecord(for: key("source")) == purged)
        await disk.close()
    }

    @Test("Sources that were outdated before a restart are outdated after it, and others are not")
    func outdatedAfterRestart() async throws {
        var disk = try await open()
        for name in ["a", "b", "c"] { try await store(name, as: record(name), in: disk) }
        for name in ["a", "b"] {
            for lifetime in [1, 2] as [Int64] { try await disk.save(record(name, lifetime: lifetime)) }
        }
        await disk.close()
        disk = try await open()
        #expect(await answer(disk, "b") == nil)
        #expect(await answer(disk, "c") != nil)
        _ = try await disk.removeAll()
        try await store("c", as: record("c"), in: disk)
        await disk.close()

        disk = try await open()

        #expect(await answer(disk, "c") != nil)
        await disk.close()
    }

    @Test("An equal record changes nothing")
    func sameRecord() async throws {
        let disk = try await open()
        try await store("a", as: record("source"), in: disk)
        try await disk.save(record("source"))

        #expect(await answer(disk) != nil)
        await disk.close()
    }

    @Test("A new record of a source that the index had forgotten makes the older files outdated")
    func forgotten() async throws {
        let disk = try await open()
        try await store("a", as: record("source"), in: disk)
        #expect(try disk.storage.index.deleteOldestRecords(limit: 1) == 1)
        var later = record("source", content: "changed")
        later.reuse.responseTime = WallTime(seconds: later.reuse.responseTime.seconds + 10)
        try await disk.save(later)

        #expect(await answer(disk) == nil)
        await disk.close()
    }

    @Test("A new index treats every earlier file as outdated")
    func newIndex() async throws {
        var disk = try await open()
        try await store("a", as: record("source"), in: disk)
        await disk.close()
        try folder.remove("cache/index.sqlite")
        disk = try await open()

        #expect(await answer(disk) == nil)
        #expect(try await disk.lookUp(key("a"), kind: .result, keyText: "a") != nil)
        await disk.close()
    }

    @Test(
        "When a record that outdates files is removed for lack of space, records are valid, files are not"
    )
    func trimmed() async throws {
        let disk = try await open()
        try await store("a", as: record("source"), in: disk)
        try await store("b", as: record("other"), in: disk)
        var purged = record("source")
        purged.reuse.directives.insert(.mustConfirm)
        try await disk.save(purged)
        clock.advance(by: 1)
        try await disk.save(record("kept"))

        #expect(try disk.storage.index.deleteOldestRecords(limit: 2) == 2)

        #expect(await answer(disk) == nil)
        #expect(await answer(disk, "b") == nil)
        #expect(await disk.sourceRecord(for: key("kept")) == record("kept"))
        await disk.close()
    }

    @Test("A record in a read-only folder says nothing about the freshness of files in the writable one")
    func inReadOnlyFolder() {
        var inReadOnlyFolder = record("source")
        inReadOnlyFolder.reuse.directives.insert(.inReadOnlyFolder)

        #expect(StoredRecord(inFile: inReadOnlyFolder, generation: 1) == nil)
    }

    @Test("A file has a record unless that does not fit, or there is no generation")
    func inFiles() throws {
        var long = record("source")
        long.reuse.lastModified = String(repeating: "x", count: 45)
        #expect(StoredRecord(inFile: long, generation: 1) == nil)
        #expect(StoredRecord(inFile: record(), generation: 0) == nil)
        let stored = try #require(StoredRecord(inFile: record(), generation: 7))
        let bytes = stored.encoded()

        #expect(bytes.count <= StoredRecord.spaceInFile)
        #expect(stored.record.reuse.entityTag == nil && stored.record.reuse.reuseFields.isEmpty)
        #expect(StoredRecord(bytes[...], key: key("source"), keyText: "source") == stored)
        let zeros = [UInt8](repeating: 0, count: StoredRecord.spaceInFile)
        #expect(StoredRecord(zeros[...], key: key("source"), keyText: "source") == nil)
    }

    @Test(
        "A file's record contains the Date, which does not follow from age and response time (RFC 9110 §6.6.1)",
        arguments: [2_000_000, -7, 0, nil])
    func dateInFile(made: Int64?) throws {
        var record = record("source")
        record.reuse.statedDate = made
        let bytes = try #require(StoredRecord(inFile: record, generation: 7)).encoded()

        let read = try #require(StoredRecord(bytes[...], key: record.key, keyText: "")).record

        #expect(read.reuse.statedDate == made && read.generationTime == record.generationTime)
    }

    @Test(
        "A file's record contains what is sent downstream, with or without a targeted field",
        arguments: [
            [("cache-control", "s-maxage=600, max-age=60, stale-if-error=9, no-transform")],
            [("cache-control", "max-age=60, must-understand, no-store")],
            [("cache-control", "max-age=5, immutable"), ("cdn-cache-control", "max-age=600")],
            [("cache-control", "max-age=5")],
        ] as [[(String, String)]])
    func downstreamInFile(fields: [(String, String)]) throws {
        let head = OriginHead(
            status: 200, fields: fields.map { HeaderField(name: $0.0, value: $0.1) }, contentLength: nil,
            requestTime: WallTime(seconds: 1_795_219_200), responseTime: WallTime(seconds: 1_795_219_200))
        let record = FreshnessPolicy(configuration: FreshnessConfiguration()).record(
            key: key("source"), keyText: "source", contentHash: ContentHash(of: [1]), byteCount: 1,
            format: .png, head: head)
        let bytes = try #require(StoredRecord(inFile: record, generation: 1)).encoded()

        let read = try #require(StoredRecord(bytes[...], key: record.key, keyText: "source")).record

        #expect(read.downstream == record.downstream)
    }

    @Test("A record is read back after a restart with every member")
    func everyMember() async throws {
        var whole = record("source")
        whole.reuse.staleWhileRevalidate = 5
        (whole.reuse.browserLifetime, whole.reuse.statedDate, whole.reuse.status) = (6, -7, 203)
        whole.reuse.reuseFields.append(
            HeaderField(name: "cdn-cache-control", value: "max-age=60, private=\"a\""))
        whole.finalURL = key("redirected")
        whole.reuse.untargeted = DownstreamControl(
            lifetime: 8, browserLifetime: 9, directives: [.immutable], staleWhileRevalidate: 10,
            staleIfError: 11)
        var disk = try await open()
        try await disk.save(whole)
        await disk.close()
        disk = try await open()

        #expect(await disk.sourceRecord(for: key("source")) == whole)
        await disk.close()
    }

    @Test(
        "A record's row that no daemon wrote is not a record",
        arguments: [
            "x'00'", "'text'", "zeroblob(300)", "substr(record, 1, 200)", recordWith(14, "63"),
            recordWith(48, "ffffffffffffff7f"), recordWith(56, "0000000000000080"),
            recordWith(72, "0000000000000080"), recordWith(88, "ffffffffffffff7f"),
        ])
    func alteredRow(change: String) async throws {
        var disk = try await open()
        try await disk.save(record("source"))
        await disk.close()
        let index = try SQLiteConnection(path: folder.path + "/cache/index.sqlite", canWrite: true)
        try index.execute("UPDATE source SET record = \(change)")
        index.close()
        disk = try await open()

        #expect(await disk.sourceRecord(for: key("source")) == nil)
        try await disk.save(record("source"))
        #expect(await disk.sourceRecord(for: key("source")) == record("source"))
        await disk.close()
    }

    @Test("After a power loss nothing counts as fresh until the origin has confirmed it")
    func lossOfPower() async throws {
        var disk = try await open()
        for name in ["a", "b"] { try await store(name, as: record(name), in: disk) }
        try await disk.link([TagLink(tag: "spring", result: key("a"), source: key("a"))])
        #expect(!disk.mayLackLinks)
        await disk.close()
        try folder.write(Array("another boot".utf8), to: "cache/lock")

        disk = try await open()
        #expect(await answer(disk, "a") == nil)
        #expect(try await disk.lookUp(key("a"), kind: .result, keyText: "a") != nil)
        let stale = try #require(await disk.sourceRecord(for: key("a")))
        #expect(
            stale.reuse.directives.contains(.mustConfirm)
                && stale.reuse.entityTag == record("a").reuse.entityTag)
        #expect(disk.mayLackLinks)
        // What the origin has confirmed counts again, also for the next process, and so does what is stored.
        try await disk.save(record("a"))
        try await store("c", as: record("c"), in: disk)
        await disk.close()

        disk = try await open()
        #expect(await disk.sourceRecord(for: key("a")) == record("a"))
        #expect(await disk.sourceRecord(for: key("b"))?.reuse.directives.contains(.mustConfirm) == true)
        #expect(await answer(disk, "b") == nil)
        #expect(await answer(disk, "c") != nil)
        #expect(disk.mayLackLinks)
        try await disk.removeAll()
        #expect(!disk.mayLackLinks)
        await disk.close()
    }

    @Test("A killed process has lost nothing that it had committed")
    func killed() async throws {
        var disk = try await open()
        try await store("a", as: record("a"), in: disk)
        await disk.close()
        try leaveAsKilled(folder)

        disk = try await open()

        #expect(await answer(disk, "a") != nil)
        #expect(await disk.sourceRecord(for: key("a")) == record("a"))
        #expect(!disk.mayLackLinks)
        await disk.close()
    }
}

/// The stored record with other bytes at a place.
private func recordWith(_ place: Int, _ hex: String) -> String {
    let end = place + hex.utf8.count / 2 + 1
    return "CAST(substr(record, 1, \(place)) || x'\(hex)' || substr(record, \(end)) AS BLOB)"
}
