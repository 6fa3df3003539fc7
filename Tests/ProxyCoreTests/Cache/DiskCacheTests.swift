// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Bodies
@testable import Cache
@testable import Freshness
@testable import Primitives

@Suite("Disk tier")
struct DiskCacheTests {
    let folder: TemporaryDirectory
    let clock = SteppedClock()

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func open(_ change: (inout DiskCacheConfiguration) -> Void = { _ in }) throws -> DiskCache {
        try openDisk(folder, clock, change)
    }

    @Test("A missing read-only folder is named in the error, and nothing is created")
    func missingReadOnlyFolder() throws {
        let missing = folder.path + "/missing"
        let error = DiskCacheError.readOnlyFolder(
            missing, because: "open \(missing): No such file or directory")

        #expect(throws: error) { try open { $0.readOnlyPaths = [missing] } }

        #expect(folder.files.isEmpty)
    }

    @Test("A stored entry is found, with its description and bytes")
    func findsEntries() async throws {
        let disk = try open()
        let body = bytes(5_000)
        let description = describe("a", body: body)

        try await disk.store(description, body: body)

        let hit = try #require(try await disk.lookUp(key("a"), kind: .result, keyText: "a"))
        #expect(hit.description == description)
        #expect(try hit.body.readAll() == body)
        #expect(try await disk.lookUp(key("a"), kind: .original, keyText: "a") == nil)
        #expect(try await disk.lookUp(key("b"), kind: .result, keyText: "b") == nil)
        await disk.close()
    }

    @Test("A staged body is found once it is committed, and not before")
    func commitsStaged() async throws {
        let disk = try open()
        let body = bytes(100_000)
        let staged = try disk.stage(kind: .original, keyText: "a")
        try staged.file.write(body + bytes(500), at: staged.bodyOffset)

        #expect(try await disk.lookUp(key("a"), kind: .original, keyText: "a") == nil)
        try await disk.commit(staged, describe("a", kind: .original, body: body), byteCount: body.count)

        let hit = try #require(try await disk.lookUp(key("a"), kind: .original, keyText: "a"))
        #expect(try hit.body.readAll() == body)
        await disk.close()
    }

    @Test("A staged entry that is dropped leaves no file and no count")
    func dropsStaged() async throws {
        let disk = try open()

        try disk.stage(kind: .original, keyText: "a").file.write(bytes(5_000), at: 200)

        #expect(folder.entryFiles.isEmpty)
        await disk.close()
    }

    @Test("A body shorter than declared is refused, and so is another entry's description")
    func refusesMismatch() async throws {
        let disk = try open()
        let staged = try disk.stage(kind: .result, keyText: "a")
        try staged.file.write(bytes(10), at: staged.bodyOffset)

        await #expect(throws: DiskCacheError.invalid("the body is shorter than 11 bytes")) {
            try await disk.commit(staged, describe("a", body: bytes(11)), byteCount: 11)
        }
        await #expect(throws: DiskCacheError.invalid("the description is not of what was staged")) {
            try await disk.commit(staged, describe("b", body: bytes(10)), byteCount: 10)
        }
        #expect(folder.entryFiles.isEmpty)
        await disk.close()
    }

    @Test("A later entry replaces an earlier one, whose open body stays as it was")
    func replaces() async throws {
        let disk = try open()
        try await disk.store(describe("a", body: bytes(100)), body: bytes(100))
        let old = try #require(try await disk.lookUp(key("a"), kind: .result, keyText: "a"))

        try await disk.store(describe("a", body: bytes(200, seed: 2)), body: bytes(200, seed: 2))

        let new = try #require(try await disk.lookUp(key("a"), kind: .result, keyText: "a"))
        #expect(try new.body.readAll() == bytes(200, seed: 2) && old.body.readAll() == bytes(100))
        #expect(folder.entryFiles.count == 1)
        #expect(disk.statistics.tally[.result] == .init(entries: 1, bytes: 4_096))
        #expect(disk.statistics.evictions[.replaced] == 1)
        await disk.close()
    }

    @Test("Two texts with one key do not answer for each other")
    func comparesText() async throws {
        let disk = try open()
        try await disk.store(describe("a", body: bytes(10)), body: bytes(10))

        #expect(try await disk.lookUp(key("a"), kind: .result, keyText: "b") == nil)
        #expect(try await disk.lookUp(key("a"), kind: .result, keyText: "a") != nil)
        await disk.close()
    }

    @Test("A restart finds entries, records and counts as they were")
    func restartsWarm() async throws {
        let first = try open()
        for number in 0..<300 {
            let body = bytes(100 + number, seed: number)
            try await first.store(describe("\(number)", body: body), body: body, durable: number == 7)
        }
        try await first.save(record())
        let before = first.statistics.tally
        await first.close()

        let second = try open()
        try await second.sweep()

        #expect(await second.isLoaded())
        #expect(second.statistics.tally == before && before[.result].entries == 300 && before.records == 1)
        #expect(!second.writer.needsScan)
        let hit = try #require(try await second.lookUp(key("42"), kind: .result, keyText: "42"))
        #expect(try hit.body.readAll() == bytes(142, seed: 42))
        #expect(await second.sourceRecord(for: key("source")) == record())
        await second.close()
    }

    @Test("A cached look-up finds what was just stored, checked")
    func looksUpNow() async throws {
        let disk = try open()
        let body = bytes(20_000)
        try await disk.store(describe("a", body: body), body: body)

        do {
            let hit = try #require(try disk.find(key("a"), .result, "a", .cached()))
            #expect(try hit.body.readAll() == body)
        } catch DiskCacheError.wouldBlock {
            // A file system that cannot answer from memory alone reports that for every entry.
        }
        await disk.close()
    }

    @Test(
        "A large body is not checked on the caller's thread, and is answered from memory once it was checked")
    func checksLargeBodiesElsewhere() async throws {
        let disk = try open { $0.limits.maxVerifyNow = .kibibytes(4) }
        let body = bytes(20_000)
        try await disk.store(describe("a", body: body), body: body)

        #expect(throws: DiskCacheError.wouldBlock) {
            try disk.find(key("a"), .result, "a", .cached())
        }
        #expect(try await disk.lookUp(key("a"), kind: .result, keyText: "a") != nil)
        await disk.close()
    }

    @Test("A removed entry is a miss, and its file is deleted")
    func removes() async throws {
        let disk = try open()
        try await disk.store(describe("a", body: bytes(10)), body: bytes(10))

        #expect(try await disk.remove(key("a"), kind: .result))
        #expect(try await !disk.remove(key("a"), kind: .result))

        #expect(try await disk.lookUp(key("a"), kind: .result, keyText: "a") == nil)
        #expect(folder.entryFiles.isEmpty && disk.statistics.tally == DiskTally())
        await disk.close()
    }

    @Test("A purge by source removes its original, all its results and its record, and nothing else")
    func purgesSource() async throws {
        let disk = try open { $0.limits.batchSize = 8 }
        try await disk.store(describe("s", kind: .original, source: "s", body: bytes(9)), body: bytes(9))
        for number in 0..<30 {
            try await disk.store(describe("s\(number)", source: "s", body: bytes(10)), body: bytes(10))
        }
        try await disk.store(describe("t", source: "t", body: bytes(10)), body: bytes(10))
        try await disk.save(record("s"))
        try await disk.save(record("t"))

        #expect(try await disk.removeAll(ofSource: key("s")) == 31)

        #expect(folder.entryFiles.count == 1 && disk.statistics.tally.entries == 1)
        #expect(await disk.sourceRecord(for: key("s")) == nil)
        #expect(await disk.sourceRecord(for: key("t")) == record("t"))
        await disk.close()
    }

    @Test("A purge of everything removes all, and the tier continues to store")
    func purgesEverything() async throws {
        let disk = try open()
        for number in 0..<20 {
            try await disk.store(describe("\(number)", body: bytes(10)), body: bytes(10))
        }
        try await disk.save(record())

        #expect(try await disk.removeAll() == 20)
        try await disk.store(describe("new", body: bytes(10)), body: bytes(10))
        try await disk.sweep()

        #expect(try await disk.lookUp(key("3"), kind: .result, keyText: "3") == nil)
        #expect(try await disk.lookUp(key("new"), kind: .result, keyText: "new") != nil)
        #expect(await disk.sourceRecord(for: key("source")) == nil)
        #expect(disk.statistics.tally.entries == 1)
        await disk.close()
        #expect(folder.entryFiles.count == 1)
    }

    @Test("A source's record replaces the previous one, and is removed by a purge of the source")
    func keepsRecords() async throws {
        let disk = try open { $0.limits.maxRecordsInMemory = 0 }

        try await disk.save(record(lifetime: 1))
        try await disk.save(record(lifetime: 2))

        #expect(disk.storage.records.record(for: key("source")) == nil)
        #expect(await disk.sourceRecord(for: key("source"))?.reuse.freshnessLifetime == 2)
        #expect(disk.statistics.tally.records == 1)
        try await disk.removeAll(ofSource: key("source"))
        #expect(await disk.sourceRecord(for: key("source")) == nil)
        #expect(disk.statistics.tally.records == 0)
        await disk.close()
    }

    @Test("A record that was read from disk stays in memory")
    func cachesRecords() async throws {
        let first = try open()
        try await first.save(record())
        #expect(first.storage.records.record(for: key("source")) == record())
        await first.close()

        let second = try open()
        #expect(second.storage.records.record(for: key("source")) == nil)
        #expect(await second.sourceRecord(for: key("source")) == record())
        #expect(second.storage.records.record(for: key("source")) == record())
        await second.close()
    }

    @Test("A second daemon gets the error that the folder is taken, and the folder when the first has closed")
    func locksFolder() async throws {
        let first = try open()

        #expect(throws: DiskCacheError.locked(folder.path + "/cache")) { try open() }
        await first.close()

        let second = try open()
        await second.close()
    }

    @Test("Calls after closing are refused, and closing twice is harmless")
    func closes() async throws {
        let disk = try open()
        await disk.close()
        await disk.close()

        await #expect(throws: DiskCacheError.closed) {
            try await disk.store(describe("a", body: bytes(10)), body: bytes(10))
        }
        #expect(folder.entryFiles.isEmpty)
    }

    @Test("More changes than may wait are refused, and counted, and do no harm")
    func boundsWrites() async throws {
        let disk = try open {
            $0.limits.maxWaitingWrites = 2
            $0.limits.maxWaitingReads = 1_000
        }

        let refused = await withTaskGroup(of: Int.self) { group in
            for number in 0..<200 {
                group.addTask {
                    do {
                        try await disk.store(describe("\(number)", body: bytes(10)), body: bytes(10))
                        return 0
                    } catch {
                        return error as? DiskCacheError == .overloaded ? 1 : 1_000
                    }
                }
            }
            return await group.reduce(0, +)
        }

        #expect(refused < 200)
        #expect(disk.statistics.tally.entries == 200 - refused)
        #expect(folder.entryFiles.count == 200 - refused)
        await disk.close()
    }

    @Test("Many tasks that store, look up and remove the same keys get correct bytes or a miss")
    func isSafeToShare() async throws {
        let disk = try open()

        let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<8 {
                group.addTask {
                    var wrong = 0
                    for round in 0..<60 {
                        let name = "\((round * 7 + task) % 10)"
                        let body = bytes(2_000, seed: round * 8 + task)
                        try await disk.store(describe(name, body: body), body: body)
                        if let hit = try await disk.lookUp(key(name), kind: .result, keyText: name) {
                            let read = try hit.body.readAll()
                            if ContentHash(of: read) != hit.description.contentHash { wrong += 1 }
                        }
                        if round % 9 == 0 { _ = try await disk.remove(key(name), kind: .result) }
                    }
                    return wrong
                }
            }
            return try await group.reduce(0, +)
        }

        #expect(wrong == 0)
        #expect(disk.statistics.tally.entries == folder.entryFiles.count)
        #expect(disk.statistics.corrupt == 0)
        await disk.close()
    }
}

/// Opens a tier in the folder's `cache`; its housekeeping does not pause.
func openDisk(
    _ folder: TemporaryDirectory, _ clock: SteppedClock,
    _ change: (inout DiskCacheConfiguration) -> Void = { _ in },
    pause: @escaping @Sendable (UInt32) -> Void = { _ in }
) throws -> DiskCache {
    var configuration = DiskCacheConfiguration()
    configuration.limits.accessPrecision = .seconds(0)
    configuration.limits.maxVerified = 1_024
    // A test sweeps when it wants to: on a busy machine it can take longer than the default's minute.
    configuration.sweepInterval = .days(1)
    change(&configuration)
    return try DiskCache(
        directory: folder.path + "/cache", configuration: configuration, clock: { clock.time }, pause: pause)
}

extension TemporaryDirectory {
    /// The files of entries, finished or not, below the tier's folder.
    var entryFiles: [String] {
        files.filter { $0.hasPrefix("cache/originals/") || $0.hasPrefix("cache/results/") }
    }
}

extension DiskCache {
    /// Waits until everything that was on disk at the start is known: the sweeps in between step through it.
    func isLoaded() async -> Bool {
        while !statistics.isComplete {
            guard (try? await sweep()) != nil else { return false }
        }
        return true
    }
}
