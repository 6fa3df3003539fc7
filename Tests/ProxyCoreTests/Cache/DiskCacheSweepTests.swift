// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import ProxyCore

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

    private func holds(_ disk: DiskCache, _ name: String) async throws -> Bool {
        try await disk.lookUp(key(name), kind: .result, keyText: name) != nil
    }

    @Test("By access: what was not served for too long goes, what was served stays")
    func expiresByAccess() async throws {
        let disk = try open { $0.maxAge = .days(7) }
        for name in ["idle", "read", "touched"] { try await store(disk, name) }
        clock.advance(by: 5 * day)
        #expect(try await holds(disk, "read"))
        disk.touch(key("touched"), kind: .result)
        clock.advance(by: 3 * day)

        #expect(try await disk.sweep() == 1)

        #expect(folder.entryFiles.count == 2)
        #expect(try await !holds(disk, "idle"))
        #expect(try await holds(disk, "read"))
        #expect(try await holds(disk, "touched"))
        #expect(disk.statistics.evictions[.age] == 1 && disk.statistics.tally.entries == 2)
        await disk.close()
    }

    @Test("By modification: what was stored too long ago goes, served or not")
    func expiresByModification() async throws {
        let disk = try open { $0.expireBy = .modification }
        try await store(disk, "old")
        clock.advance(by: 5 * day)
        #expect(try await holds(disk, "old"))
        try await store(disk, "new")
        clock.advance(by: 3 * day)

        #expect(try await disk.sweep() == 1)

        #expect(try await !holds(disk, "old"))
        #expect(try await holds(disk, "new"))
        await disk.close()
    }

    @Test("Over size: the entries longest unused go, down to the low-water mark and no further")
    func shrinksToLowWater() async throws {
        let disk = try open {
            $0.maxBytes = ByteCount(100_000)
            $0.lowWater = 0.5
            $0.limits.batchSize = 4
        }
        #expect(await disk.isLoaded())
        for number in 0..<99 {
            clock.advance(by: 1)
            try await store(disk, "\(number)", count: 680)
        }
        #expect(try await disk.sweep() == 0)
        clock.advance(by: 1)
        disk.touch(key("0"), kind: .result)
        for number in 99..<102 {
            clock.advance(by: 1)
            try await store(disk, "\(number)", count: 680)
        }

        try await disk.sweep()

        #expect(disk.statistics.tally.bytes <= 51_000 && disk.statistics.tally.bytes > 48_000)
        #expect(disk.statistics.tally.entries == folder.entryFiles.count)
        #expect(try await holds(disk, "0"))
        #expect(try await !holds(disk, "1"))
        #expect(try await holds(disk, "101"))
        await disk.close()
    }

    @Test("A tier over its size sweeps by itself, without waiting for the interval")
    func sweepsWhenFull() async throws {
        let disk = try open {
            $0.maxBytes = ByteCount(50_000)
            $0.sweepInterval = .days(1)
        }
        #expect(await disk.isLoaded())

        for number in 0..<200 { try await store(disk, "\(number)", count: 680) }

        await disk.close()
        #expect(folder.entryFiles.count <= 51)
    }

    @Test("Accesses are written when the tier closes, and count after the restart")
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

    @Test("Source records are bounded, and those saved longest ago go")
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
}
