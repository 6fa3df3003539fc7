// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Cache
@testable import Primitives

/// Opens the tier in every state that a killed process can leave behind.
@Suite("Disk tier: killed in the middle")
struct DiskCacheCrashTests {
    let folder: TemporaryDirectory
    let clock = SteppedClock()
    private let body = bytes(64)
    private let newer = bytes(80, seed: 2)

    init() throws {
        folder = try TemporaryDirectory()
    }

    /// A tier that contains `names`, closed; the files by name.
    private func prepare(_ names: [String]) async throws {
        let disk = try openDisk(folder, clock)
        for name in names { try await disk.store(describe(name, body: body), body: body) }
        await disk.close()
    }

    private func file(_ name: String) -> String {
        let digits = key(name).description
        return "cache/results/\(digits.prefix(2))/\(digits)"
    }

    private func entryBytes(_ name: String, _ body: [UInt8]) -> [UInt8] {
        DiskEntry(
            description: describe(name, body: body), bodyLength: Int64(body.count),
            bodyChecksum: Checksum.crc32c(body)
        ).encoded() + body
    }

    private func lookUp(_ disk: DiskCache, _ name: String) async throws -> [UInt8]? {
        try await disk.lookUp(key(name), kind: .result, keyText: name)?.body.readAll()
    }

    @Test("Killed before the link: a clean miss")
    func notLinked() async throws {
        try await prepare(["a"])
        try leaveAsKilled(folder)

        let disk = try openDisk(folder, clock)
        #expect(await disk.isLoaded())

        #expect(try await lookUp(disk, "b") == nil)
        #expect(try await lookUp(disk, "a") == body)
        #expect(disk.statistics.tally.entries == 1 && folder.entryFiles == [file("a")])
        await disk.close()
    }

    @Test("Killed between link and index: the entry is found, and counted")
    func linkedOnly() async throws {
        try await prepare(["a"])
        try leaveAsKilled(folder)
        try folder.write(entryBytes("b", newer), to: file("b"))

        let disk = try openDisk(folder, clock)
        #expect(await disk.isLoaded())

        #expect(try await lookUp(disk, "b") == newer)
        #expect(disk.statistics.tally[.result] == .init(entries: 2, bytes: 2 * 4_096))
        #expect(try await disk.removeAll(ofSource: key("source")) == 2)
        await disk.close()
        #expect(folder.entryFiles.isEmpty)
    }

    @Test("Killed between the link of a replacement and index: the newer entry is found, and counted once")
    func renamed() async throws {
        try await prepare(["a"])
        try leaveAsKilled(folder)
        try folder.write(entryBytes("a", newer), to: file("a"))

        let disk = try openDisk(folder, clock)
        #expect(await disk.isLoaded())

        #expect(try await lookUp(disk, "a") == newer)
        #expect(disk.statistics.tally[.result] == .init(entries: 1, bytes: 4_096))
        await disk.close()
    }

    @Test("A file torn by a power loss while it was linked: a clean miss, and no file is left over")
    func torn() async throws {
        try await prepare([])
        try leaveAsKilled(folder)
        try folder.write(Array(entryBytes("a", body).prefix(100)), to: file("a"))

        let disk = try openDisk(folder, clock)
        #expect(await disk.isLoaded())

        #expect(try await lookUp(disk, "a") == nil)
        #expect(folder.entryFiles.isEmpty && disk.statistics.tally == DiskTally())
        await disk.close()
    }

    @Test("Killed between unlink and index: a clean miss, and a sweep by age removes the row")
    func unlinkedOnly() async throws {
        try await prepare(["a", "b"])
        try folder.remove(file("a"))

        let disk = try openDisk(folder, clock)
        #expect(await disk.isLoaded())

        #expect(disk.statistics.tally.entries == 2)
        clock.advance(by: 8 * 86_400)
        try await disk.sweep()
        #expect(disk.statistics.tally == DiskTally())
        await disk.close()
    }

    @Test("A purge of everything that was killed after the removal of files leaves nothing to be found")
    func purgeCutOff() async throws {
        try await prepare(["a", "b"])
        try leaveAsKilled(folder)
        try DiskFolder(path: folder.path + "/cache").discardEverything()

        let disk = try openDisk(folder, clock)
        #expect(await disk.isLoaded())
        #expect(try await lookUp(disk, "a") == nil)
        clock.advance(by: 8 * 86_400)
        try await disk.sweep()
        #expect(disk.statistics.tally == DiskTally())

        try await disk.store(describe("a", body: newer, storedAt: clock.time), body: newer)
        while !folder.files.filter({ $0.hasPrefix("cache/trash") }).isEmpty { try await disk.sweep() }
        #expect(try await lookUp(disk, "a") == newer)
        await disk.close()
    }

    @Test("Where the system hides the boot's id, a folder that was left in use counts as cut off by a stop")
    func hiddenBoot() throws {
        let place = try DiskFolder(path: folder.path + "/cache")
        func lock() throws -> FolderLock {
            try FolderLock(folder: place, lockTimeout: .seconds(0), bootPath: folder.path + "/none")
        }

        do {
            let first = try lock()
            try first.markInUse()
            #expect(!first.needsScan && !first.wasCutOff)
        }
        do {
            let afterKill = try lock()
            #expect(afterKill.needsScan && afterKill.wasCutOff)
            afterKill.release(isScanned: true)
        }
        let afterRelease = try lock()
        #expect(!afterRelease.needsScan && !afterRelease.wasCutOff)
    }
}
