// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Cache
@testable import Freshness
@testable import Primitives

@Suite("Disk tier: sweeping")
struct DiskCacheSweepTests {
    let folder: TemporaryDirectory
    let clock = SteppedClock()
    private let day: Int64 = 86_400

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func open(_ change: (inout DiskCacheConfiguration) -> Void = { _ in }) throws -> DiskCache {
        try openDisk(folder, clock, change)
    }

    private func store(_ disk: DiskCache, _ name: String, count: Int = 100) async throws {
        let body = bytes(count)
        try await disk.store(describe(name, body: body, storedAt: clock.time), body: body)
    }

    /// So small a limit that the index alone takes more than half, so that entries have exactly half: 25
    /// blocks.
    private static let tiny = ByteCount(2 * 25 * 4_096)

    private func holds(_ disk: DiskCache, _ name: String) async throws -> Bool {
        try await disk.lookUp(key(name), kind: .result, keyText: name) != nil
    }

    @Test("By access: what was not served for too long is removed, what was served stays")
    func expiresByAccess() async throws {
        let disk = try open { $0.maxAge = .days(7) }
        for name in ["idle", "read", "accessed"] { try await store(disk, name) }
        clock.advance(by: 5 * day)
        #expect(try await holds(disk, "read"))
        disk.recordAccess(key("accessed"), kind: .result)
        clock.advance(by: 3 * day)

        #expect(try await disk.sweep() == 1)

        #expect(folder.entryFiles.count == 2)
        #expect(try await !holds(disk, "idle"))
        #expect(try await holds(disk, "read"))
        #expect(try await holds(disk, "accessed"))
        #expect(disk.statistics.evictions[.age] == 1 && disk.statistics.tally.entries == 2)
        await disk.close()
    }

    @Test(
        "An entry that could not stay is not stored, and evicts nothing", arguments: [90_001, 5_000_000])
    func tooLarge(count: Int) async throws {
        let disk = try open { $0.maxBytes = ByteCount(200_000) }
        for number in 0..<8 { try await store(disk, "\(number)", count: 10_000) }
        // Measures the index, too.
        try await disk.sweep()

        await #expect(throws: DiskCacheError.tooLarge) { try await store(disk, "huge", count: count) }
        let staged = try disk.stage(kind: .result, keyText: "staged")
        try staged.file.write(bytes(count), at: staged.bodyOffset)
        await #expect(throws: DiskCacheError.tooLarge) {
            try await disk.commit(staged, describe("staged", body: []), byteCount: count)
        }
        #expect(
            !disk.storeSoon(
                describe("soon", body: []), body: bytes(count), checksum: 0, record: record()))
        try await disk.sweep()

        #expect(disk.statistics.tally.entries == 8 && disk.statistics.writeErrors == 0)
        for number in 0..<8 { #expect(try await holds(disk, "\(number)")) }
        await disk.close()
    }

    @Test("A served entry stays, whether its access time was written already or is pending")
    func sparesWhatWasServed() async throws {
        let disk = try open {
            $0.maxAge = .days(7)
            $0.limits.maxAccessTimes = 8
            $0.limits.batchSize = 1
        }
        for number in 0..<12 { try await store(disk, "\(number)") }
        clock.advance(by: 6 * day)
        // Half of the table's capacity: now they are being written, one by one and slowly.
        for number in 0..<6 { disk.recordAccess(key("\(number)"), kind: .result) }
        clock.advance(by: 2 * day)

        #expect(try await disk.sweep() == 6)

        for number in 0..<6 { #expect(try await holds(disk, "\(number)")) }
        await disk.close()
    }

    @Test("A sweep for size removes what was not served, however old what was served is")
    func sparesWhatWasServedForSize() async throws {
        let disk = try open {
            $0.maxBytes = Self.tiny
            $0.lowWater = 0.5
        }
        #expect(await disk.isLoaded())
        for number in 0..<22 { try await store(disk, "\(number)", count: 680) }
        clock.advance(by: day)
        for number in 0..<5 { disk.recordAccess(key("\(number)"), kind: .result) }
        for number in 22..<26 { try await store(disk, "\(number)", count: 680) }

        try await disk.sweep()

        for number in [0, 2, 4] { #expect(try await holds(disk, "\(number)")) }
        // What was stored after a sweep that began by itself adds to the 12 blocks.
        #expect((12...14).contains(disk.statistics.tally.bytes / 4_096))
        await disk.close()
    }

    @Test("By modification: what was stored too long ago is removed, served or not")
    func expiresByModification() async throws {
        let disk = try open { $0.expireBy = .modification }
        try await store(disk, "old")
        clock.advance(by: 5 * day)
        #expect(try await holds(disk, "old"))
        try await store(disk, "new")
        clock.advance(by: 3 * day)

        // A sweep that began by itself may have removed it before.
        try await disk.sweep()

        #expect(try await !holds(disk, "old"))
        #expect(try await holds(disk, "new"))
        await disk.close()
    }

    @Test("Over size: the least recently used entries are removed, down to the low-water mark and no further")
    func shrinksToLowWater() async throws {
        let disk = try open {
            $0.maxBytes = Self.tiny
            $0.lowWater = 0.5
            $0.limits.batchSize = 4
        }
        #expect(await disk.isLoaded())
        for number in 0..<24 {
            clock.advance(by: 1)
            try await store(disk, "\(number)", count: 680)
        }
        #expect(try await disk.sweep() == 0)
        clock.advance(by: 1)
        disk.recordAccess(key("0"), kind: .result)
        for number in 24..<27 {
            clock.advance(by: 1)
            try await store(disk, "\(number)", count: 680)
        }

        try await disk.sweep()

        // What was stored after a sweep that began by itself adds to the 12 blocks.
        #expect((12...14).contains(disk.statistics.tally.bytes / 4_096))
        #expect(disk.statistics.tally.entries == folder.entryFiles.count)
        #expect(try await holds(disk, "0"))
        #expect(try await !holds(disk, "1"))
        #expect(try await holds(disk, "26"))
        await disk.close()
    }

    @Test("A tier over its size sweeps at once, without waiting for the interval")
    func sweepsWhenFull() async throws {
        let disk = try open {
            $0.maxBytes = Self.tiny
            $0.sweepInterval = .days(1)
        }
        #expect(await disk.isLoaded())

        for number in 0..<200 { try await store(disk, "\(number)", count: 680) }

        await disk.close()
        // What is stored between the steps of a sweep adds to the 25 that fit.
        #expect(folder.entryFiles.count <= 25 + 10)
        #expect(disk.statistics.evictions[.size] == 200 - folder.entryFiles.count)
    }

    @Test("Access times are written when the tier closes, and count after the restart")
    func writesAccessesOnClosing() async throws {
        let first = try open()
        try await store(first, "a")
        clock.advance(by: 5 * day)
        #expect(try await holds(first, "a"))
        await first.close()
        clock.advance(by: 5 * day)

        let second = try open()
        #expect(try await second.sweep() == 0)

        #expect(try await holds(second, "a"))
        await second.close()
    }

    @Test("Source records are bounded, and those saved longest ago are removed")
    func boundsRecords() async throws {
        let disk = try open {
            $0.limits.maxSourceRecords = 10
            $0.limits.maxRecordsInMemory = 0
            $0.limits.batchSize = 4
        }
        #expect(await disk.isLoaded())
        for number in 0..<25 {
            clock.advance(by: 1)
            try await disk.save(record("\(number)"))
        }

        try await disk.sweep()

        #expect(disk.statistics.tally.records == 10)
        #expect(await disk.sourceRecord(for: key("14")) == nil)
        #expect(await disk.sourceRecord(for: key("15")) != nil)
        await disk.close()
    }

    @Test("The setting of what age is counted from may change between runs")
    func changesAgeColumn() async throws {
        let first = try open()
        try await store(first, "a")
        clock.advance(by: 5 * day)
        #expect(try await holds(first, "a"))
        await first.close()
        clock.advance(by: 5 * day)

        let second = try open { $0.expireBy = .modification }

        #expect(try await second.sweep() == 1)
        await second.close()
    }
    @Test("Changed amounts and ages count from the next sweep on")
    func adopts() async throws {
        let disk = try open { $0.maxAge = .days(7) }
        #expect(await disk.isLoaded())
        for name in ["first", "second", "third"] {
            try await store(disk, name)
            clock.advance(by: 1)
        }
        var configuration = DiskCacheConfiguration()
        configuration.maxBytes = ByteCount(Int(disk.statistics.tally.bytes) * 2 / 3)
        configuration.lowWater = 1

        disk.adopt(configuration)
        _ = try await disk.sweep()

        #expect(try await !holds(disk, "first"))
        #expect(try await holds(disk, "third"))
        configuration.maxAge = .days(1)
        clock.advance(by: 2 * day)
        disk.adopt(configuration)
        _ = try await disk.sweep()
        #expect(disk.statistics.tally.entries == 0)
        await disk.close()
    }

    @Test("The access times of a sweep that was cut off are written by the next one")
    func cutOff() async throws {
        let disk = try open()
        for name in ["first", "second"] { try await store(disk, name) }
        let (first, second) = (
            EntryID(kind: .result, key: key("first")), EntryID(kind: .result, key: key("second"))
        )
        clock.advance(by: day)
        let time = clock.time

        try await disk.writer.perform { (writer, _) throws(DiskCacheError) in
            // What a sweep leaves that ends before it has written all.
            writer.accessed = [(first, time)]
        }
        disk.recordAccess(second.key, kind: .result)
        try await disk.sweep()

        let rows = try await disk.list(ofSource: key("source"), limit: 10)
        #expect(rows.map(\.accessedAt) == [time, time])
        await disk.close()
    }

    @Test("A report of sweeps contains the last one as directly as the first")
    func observer() async throws {
        let disk = try open()
        let depths = Observed<[Int]>([])
        disk.whenSwept { _ in
            let place: UInt8 = 0
            let address = withUnsafePointer(to: place) { Int(bitPattern: $0) }
            depths.update { $0.append(address) }
        }

        for _ in 0..<1_000 { disk.storage.observers.withLock(\.swept)([]) }

        let (first, last) = (try #require(depths.value.first), try #require(depths.value.last))
        #expect(depths.value.count == 1_000 && abs(first - last) < 4_096)
        await disk.close()
    }

    /// What the tier takes of the disk, as du(1) counts.
    private var diskUsage: Int64 {
        let path = folder.path + "/cache"
        let below = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return ([""] + below).reduce(0) { sum, name in
            var status = stat()
            guard lstat("\(path)/\(name)", &status) == 0 else { return sum }
            return sum + Int64(status.st_blocks) * 512
        }
    }

    @Test("Tiny pictures count with their blocks, the index and folders, and equally after a restart")
    func countsBlocks() async throws {
        let change: (inout DiskCacheConfiguration) -> Void = { configuration in
            configuration.maxBytes = .mebibytes(8)
            configuration.lowWater = 0.8
        }
        let first = try open(change)
        #expect(await first.isLoaded())
        for round in 0..<25 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<100 {
                    group.addTask { try await store(first, "\(round) \(number)", count: 100) }
                }
                try await group.waitForAll()
            }
        }

        try await first.sweep()
        try await first.sweep()

        #expect(diskUsage <= 8 << 20)
        #expect(first.statistics.tally.bytes + first.statistics.overheadBytes <= 8 << 20)
        #expect(first.statistics.tally.entries > 500)
        let tally = first.statistics.tally
        await first.close()
        let second = try open(change)
        #expect(await second.isLoaded())
        #expect(second.statistics.tally == tally)
        #expect(second.statistics.overheadBytes > 0)
        await second.close()
    }

    @Test("Source records with long texts don't make the index take more than a quarter of the tier")
    func boundsIndex() async throws {
        let disk = try open { $0.maxBytes = .mebibytes(8) }
        #expect(await disk.isLoaded())
        let text = String(repeating: "a", count: 8_000)
        for round in 0..<10 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        var record = record("\(round) \(number)")
                        record.keyText = text
                        try await disk.save(record)
                    }
                }
                try await group.waitForAll()
            }
        }

        try await disk.sweep()

        #expect(try disk.storage.index.usedBytes() <= 2 << 20)
        #expect(disk.statistics.tally.records > 50)
        #expect(diskUsage <= 8 << 20)
        await disk.close()
        #expect(diskUsage <= 4 << 20)
    }
}
