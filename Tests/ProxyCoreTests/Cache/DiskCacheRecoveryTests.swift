// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Cache
@testable import Primitives

/// What is removed or damaged while the tier is in use.
@Suite("Disk tier: recovery")
struct DiskCacheRecoveryTests {
    let folder: TemporaryDirectory
    let events = Observed<[DiskEvent]>([])
    private let body = bytes(64)

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func open() async throws -> DiskCache {
        let events = events
        let disk = try DiskCache(
            directory: folder.path + "/cache", clock: { 1_000_000 }, pause: { _ in },
            report: { event in events.update { $0.append(event) } })
        #expect(await disk.isLoaded())
        return disk
    }

    private func store(_ name: String, in disk: DiskCache) async throws {
        try await disk.store(describe(name, body: body), body: body)
    }

    private func lookUp(_ disk: DiskCache, _ name: String) async throws -> [UInt8]? {
        try await disk.lookUp(key(name), kind: .result, keyText: name)?.body.readAll()
    }

    @Test(
        "A folder that is removed or moved away is created anew in its old place, and locked against another daemon there"
    )
    func folderGone() async throws {
        let disk = try await open()
        try await store("a", in: disk)
        try folder.move("cache", to: "elsewhere")

        disk.writer.checkPlace()
        try await disk.sweep()
        #expect(await disk.isLoaded())

        #expect(events.value == [.folderReplaced])
        #expect(try await lookUp(disk, "a") == nil && disk.statistics.tally == DiskTally())
        try await store("b", in: disk)
        #expect(try await lookUp(disk, "b") == body)
        #expect(folder.files.contains { $0.hasPrefix("cache/results/") })
        #expect(throws: DiskCacheError.locked(folder.path + "/cache")) {
            try DiskCache(directory: folder.path + "/cache")
        }
        await disk.close()

        let again = try await open()
        #expect(try await lookUp(again, "b") == body)
        await again.close()
    }

    @Test("Entries of an emptied folder are misses, and later ones are stored, also over a restart")
    func folderEmptied() async throws {
        let disk = try await open()
        try await store("a", in: disk)
        for name in ["results", "index.sqlite", "index.sqlite-wal", "lock"] {
            try folder.remove("cache/" + name)
        }
        #expect(try await lookUp(disk, "a") == nil)

        disk.writer.checkPlace()
        try await disk.sweep()
        try await store("b", in: disk)
        await disk.close()

        let again = try await open()
        #expect(try await lookUp(again, "b") == body && again.statistics.tally.entries == 1)
        await again.close()
    }

    @Test("A folder that another daemon has taken is not used until that daemon ends")
    func folderTaken() async throws {
        let disk = try await open()
        try await store("a", in: disk)
        try folder.move("cache", to: "elsewhere")
        let other = try DiskCache(directory: folder.path + "/cache", clock: { 1_000_000 }, pause: { _ in })
        #expect(await other.isLoaded())
        try await store("theirs", in: other)

        disk.writer.checkPlace()
        try await disk.sweep()
        let links = [TagLink(tag: "spring", result: key("a"), source: key("source"))]
        try await disk.link(links)
        let taken = DiskCacheError.locked(folder.path + "/cache")
        await #expect(throws: taken) { try await store("b", in: disk) }
        #expect(throws: taken) { try disk.stage(kind: .result, keyText: "c") }
        #expect(try await lookUp(disk, "a") == nil)
        #expect(try await disk.removeAll() == 0)
        try await disk.link(links)

        #expect(events.value == [.failing(taken)])
        #expect(disk.statistics.writeErrors > 0)
        #expect(try await lookUp(other, "theirs") == body)
        #expect(other.statistics.tally.entries == 1)
        await other.close()

        disk.writer.checkPlace()
        try await disk.sweep()
        #expect(await disk.isLoaded())
        try await store("b", in: disk)
        #expect(try await lookUp(disk, "b") == body)
        #expect(try await disk.links(ofTag: "spring") == links)
        #expect(events.value.contains(.folderReplaced))
        await disk.close()
    }

    @Test(
        "On a read-only file system the tier starts, stores nothing, and stores once it becomes writable"
    )
    func readOnlyFileSystem() async throws {
        guard let small = try SmallFileSystem(size: "16m") else { return }
        let path = small.folder.path + "/cache"
        let first = try DiskCache(directory: path, clock: { 1_000_000 }, pause: { _ in })
        try await store("a", in: first)
        await first.close()
        try small.beginReadOnly()

        let events = events
        let disk = try DiskCache(
            directory: path, clock: { 1_000_000 }, pause: { _ in },
            report: { event in events.update { $0.append(event) } })
        #expect(await disk.isLoaded())
        await #expect(throws: DiskCacheError.self) { try await store("b", in: disk) }
        #expect(try await lookUp(disk, "a") == nil)
        disk.writer.checkPlace()
        try await disk.sweep()
        #expect(events.value.count == 1)

        small.endReadOnly()
        disk.writer.checkPlace()
        try await disk.sweep()
        #expect(await disk.isLoaded())
        try await store("b", in: disk)
        #expect(try await lookUp(disk, "a") == body)
        #expect(try await lookUp(disk, "b") == body)
        await disk.close()
    }

    @Test(
        "A folder or a pipe in the place of the lock is removed",
        arguments: [true, false])
    func strangeFiles(isFolder: Bool) async throws {
        for name in ["lock"] {
            let first = try await open()
            try await store("a", in: first)
            await first.close()
            let path = folder.path + "/cache/" + name
            try folder.remove("cache/" + name)
            if isFolder {
                try folder.write(bytes(3), to: "cache/" + name + "/kept")
            } else {
                #expect(mkfifo(path, 0o600) == 0)
            }

            let disk = try await open()
            #expect(try await lookUp(disk, "a") == body)
            #expect(throws: DiskCacheError.locked(folder.path + "/cache")) {
                try DiskCache(directory: folder.path + "/cache")
            }
            await disk.close()
        }
    }

    @Test("Known tags are written into the index that replaces a removed one")
    func tagsOutliveIndex() async throws {
        let disk = try await open()
        let links = [TagLink(tag: "spring", result: key("a"), source: key("source"))]
        try await disk.link(links)
        for name in ["index.sqlite", "index.sqlite-wal"] { try folder.remove("cache/" + name) }

        disk.writer.checkPlace()
        try await disk.sweep()

        #expect(events.value == [.indexReplaced])
        #expect(try await disk.links(ofTag: "spring") == links)
        #expect(disk.mayLackLinks)
        await disk.close()
    }

    @Test("The start detects an index that is damaged behind its first pages, and rebuilds it from the files")
    func spoiledBeforeStart() async throws {
        let first = try await open()
        for number in 0..<400 { try await store("\(number)", in: first) }
        await first.close()
        let whole = try folder.read("cache/index.sqlite")
        let rotten = whole.prefix(8_192) + bytes(whole.count - 8_192)
        try folder.write(Array(rotten), to: "cache/index.sqlite")

        let disk = try await open()

        #expect(events.value.contains(.indexReplaced))
        #expect(disk.statistics.tally.entries == 400)
        #expect(try await lookUp(disk, "7") == body)
        #expect(try await disk.removeAll(ofSource: key("source")) == 400)
        await disk.close()
    }

    @Test("An index that turns out damaged while in use is rebuilt, and the tier continues to store")
    func spoiledInUse() async throws {
        let disk = try await open()
        for number in 0..<400 { try await store("\(number)", in: disk) }
        for name in ["index.sqlite", "index.sqlite-wal"] {
            try folder.write(bytes(try folder.read("cache/" + name).count / 2), to: "cache/" + name)
        }

        // What SQLite reports for a page that it must read.
        disk.failed(with: .brokenIndex("database disk image is malformed"))
        try await disk.sweep()
        #expect(await disk.isLoaded())

        #expect(events.value.last == .indexReplaced)
        #expect(disk.statistics.tally.entries == 400)
        try await store("new", in: disk)
        #expect(try await disk.removeAll(ofSource: key("source")) == 401)
        await disk.close()
    }

    @Test("Where a folder could not be scanned before the index was read, every entry may be there")
    func scannedInPart() async throws {
        var configuration = DiskCacheConfiguration()
        // A sweep scans what is left.
        configuration.sweepInterval = .days(1)
        let storage = try DiskStorage(
            directory: folder.path + "/cache", configuration: configuration,
            lockTimeout: .seconds(0), recordShare: MemoryShare(bytes: 1 << 20), clock: { 1_000_000 },
            report: { _ in })
        let writer = DiskWriter(storage: storage, pause: { _ in })
        try await writer.perform { (writer, _) throws(DiskCacheError) in
            try writer.finishScan()
            _ = writer.scan.fail(with: .system(call: "openat", code: EACCES))
        }

        writer.start()
        await writer.ping()

        #expect(!storage.entries.isComplete)
        await writer.close()
    }

    @Test("Each read of the index that fails is counted")
    func countsReads() async throws {
        // Without a sweep on a busy machine, which would find the index closed and make another.
        let disk = try openDisk(folder, SteppedClock())
        #expect(await disk.isLoaded())
        disk.storage.index.close()

        await #expect(throws: DiskCacheError.closed) { try await disk.list(ofSource: key("a"), limit: 1) }
        await #expect(throws: DiskCacheError.closed) { try await disk.links(ofTag: "a") }

        #expect(disk.statistics.readErrors == 2)
        await disk.close()
    }
}
