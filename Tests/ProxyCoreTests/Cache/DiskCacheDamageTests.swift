// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Bodies
@testable import Cache

@Suite("Disk tier: damage")
struct DiskCacheDamageTests {
    let folder: TemporaryDirectory
    let clock = SteppedClock()
    private let body = bytes(64)

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func open(_ change: (inout DiskCacheConfiguration) -> Void = { _ in }) throws -> DiskCache {
        try openDisk(folder, clock, change)
    }

    /// Opens a tier with one entry, and returns its file.
    private func openWithEntry() async throws -> (DiskCache, file: String) {
        let disk = try open()
        try await disk.store(describe("a", body: body), body: body)
        return (disk, try #require(folder.entryFiles.first))
    }

    private func lookUp(_ disk: DiskCache) async throws -> [UInt8]? {
        try await disk.lookUp(key("a"), kind: .result, keyText: "a")?.body.readAll()
    }

    @Test("A file with any one byte flipped is a miss")
    func recognisesFlips() async throws {
        let (disk, file) = try await openWithEntry()
        let whole = try folder.read(file)

        for place in whole.indices {
            var flipped = whole
            flipped[place] ^= 0x10
            try folder.write(flipped, to: file)
            #expect(try await lookUp(disk) == nil, "byte \(place)")
            try await disk.store(describe("a", body: body), body: body)
        }

        #expect(try await lookUp(disk) == body)
        #expect(disk.statistics.corrupt == whole.count)
        await disk.close()
    }

    @Test("A file truncated at any length, or with bytes appended, is a miss")
    func recognisesLengths() async throws {
        let (disk, file) = try await openWithEntry()
        let whole = try folder.read(file)

        for length in Array(0..<whole.count) + [whole.count + 1] {
            try folder.write(Array((whole + [0]).prefix(length)), to: file)
            #expect(try await lookUp(disk) == nil, "\(length) bytes")
            try await disk.store(describe("a", body: body), body: body)
        }

        #expect(try await lookUp(disk) == body)
        await disk.close()
    }

    @Test("A damaged file is removed from the folder and from the counts")
    func removesDamaged() async throws {
        let (disk, file) = try await openWithEntry()
        try folder.write([1, 2, 3], to: file)

        #expect(try await lookUp(disk) == nil)
        try await disk.sweep()

        #expect(folder.entryFiles.isEmpty && disk.statistics.tally == DiskTally())
        #expect(disk.statistics.evictions[.corrupt] == 1)
        await disk.close()
    }

    @Test(
        "A byte that changes after the entry was served is detected by the next process, or as soon as the file's times change"
    )
    func checksAgainWhenChanged() async throws {
        let (disk, file) = try await openWithEntry()
        #expect(try await lookUp(disk) == body)
        var rotten = try folder.read(file)
        rotten[rotten.count - 1] ^= 1

        try folder.write(rotten, to: file)

        #expect(try await lookUp(disk) == nil)
        await disk.close()
    }

    @Test("An entry's file under another entry's name answers for neither")
    func checksNames() async throws {
        let (disk, file) = try await openWithEntry()
        try await disk.store(describe("b", body: bytes(10)), body: bytes(10))
        let other = try #require(folder.entryFiles.first { $0 != file })

        try folder.remove(other)
        try folder.move(file, to: other)

        #expect(try await disk.lookUp(key("b"), kind: .result, keyText: "b") == nil)
        #expect(try await lookUp(disk) == nil)
        await disk.close()
    }

    @Test(
        "A folder, a link, a pipe or a socket in a file's place is a miss, and the next store removes it",
        arguments: Strange.allCases)
    func strangeThings(strange: Strange) async throws {
        let (disk, file) = try await openWithEntry()
        try folder.remove(file)
        let path = folder.path + "/" + file
        switch strange {
        case .folder: #expect(mkdir(path, 0o700) == 0)
        case .fullFolder: #expect(mkdir(path, 0o700) == 0 && mkdir(path + "/more", 0o700) == 0)
        case .link: #expect(symlink("/dev/zero", path) == 0)
        case .pipe: #expect(mkfifo(path, 0o600) == 0)
        case .socket: #expect(mknod(path, S_IFSOCK | 0o600, 0) == 0)
        }

        #expect(disk.findCached("a") == nil)
        #expect(try await lookUp(disk) == nil)
        try await disk.store(describe("a", body: body), body: body)

        #expect(try await lookUp(disk) == body)
        try await disk.sweep()
        #expect(disk.statistics.tally.entries == 1)
        await disk.close()
    }

    enum Strange: CaseIterable {
        case folder, fullFolder, link, pipe, socket
    }

    @Test("A file that another process deleted is a miss, and its row is removed")
    func noticesDeletion() async throws {
        let (disk, file) = try await openWithEntry()
        try folder.remove(file)

        #expect(try await lookUp(disk) == nil)
        try await disk.sweep()

        #expect(disk.statistics.tally == DiskTally() && disk.statistics.evictions[.missing] == 1)
        #expect(!disk.mayContain(key("a"), kind: .result) || !disk.statistics.isComplete)
        try await disk.store(describe("a", body: body), body: body)
        #expect(try await lookUp(disk) == body)
        await disk.close()
    }

    @Test("An index that is not a database is set aside, and rebuilt from the files")
    func rebuildsIndex() async throws {
        let (first, _) = try await openWithEntry()
        for number in 0..<300 {
            try await first.store(describe("\(number)", source: "s", body: body), body: body)
        }
        await first.close()
        try folder.write(bytes(5_000), to: "cache/index.sqlite")

        let second = try open { $0.limits.batchSize = 32 }
        #expect(try await lookUp(second) == body)
        #expect(await second.isLoaded())

        #expect(second.writer.needsScan && second.statistics.tally[.result].entries == 301)
        #expect(folder.files.contains("cache/index.sqlite.broken"))
        #expect(try await second.removeAll(ofSource: key("s")) == 300)
        await second.close()
    }

    @Test(
        "An index is set aside whatever lies in its place, and in that where it is moved to", arguments: 0..<5
    )
    func setsOddThingsAside(round: Int) async throws {
        let (first, _) = try await openWithEntry()
        await first.close()
        let index = folder.path + "/cache/index.sqlite"
        let broken = index + ".broken"
        unlink(index)
        switch round {
        case 0:
            mkdir(index, 0o700)
            try folder.write([1], to: "cache/index.sqlite.broken")
        case 1:
            try folder.write(bytes(5_000), to: "cache/index.sqlite")
            mkdir(broken, 0o700)
        case 2, 3:
            for path in [index, broken] {
                mkdir(path, 0o700)
                if round == 3 { mkdir(path + "/a", 0o700) }
            }
        default: symlink("/nowhere/at/all", index)
        }

        let second = try open()
        #expect(try await lookUp(second) == body)
        #expect(await second.isLoaded())

        #expect(second.statistics.tally.entries == 1)
        await second.close()
    }

    @Test(
        "An index of an earlier or a later version is set aside, and entries stay",
        arguments: [0, 0x696D_6770, 0x696D_67FF])
    func setsOtherVersionsAside(schema: Int) async throws {
        let (first, _) = try await openWithEntry()
        await first.close()
        try await changeIndex("PRAGMA application_id = \(schema)")

        let second = try open()
        #expect(try await lookUp(second) == body)
        #expect(await second.isLoaded())

        #expect(second.writer.needsScan && second.statistics.tally.entries == 1)
        #expect(second.mayLackLinks)
        await second.close()
    }

    @Test("A scan removes what is not an entry from the folder, and no entry")
    func scanRemovesRubbish() async throws {
        let (first, file) = try await openWithEntry()
        await first.close()
        try folder.remove("cache/index.sqlite")
        let shard = file.split(separator: "/").dropLast().joined(separator: "/")
        try folder.write([1], to: shard + "/rubbish")
        try folder.write([1], to: file + ".new")

        let second = try open()
        #expect(await second.isLoaded())

        #expect(folder.entryFiles == [file])
        #expect(try await lookUp(second) == body)
        await second.close()
    }

    @Test("After a power loss a scan finds the files that the index has lost, and removes incomplete ones")
    func scansAfterPowerCut() async throws {
        let (first, file) = try await openWithEntry()
        try await first.store(describe("b", body: body), body: body)
        await first.close()
        try await changeIndex("DELETE FROM entry WHERE id = 1")
        try folder.write([1], to: "cache/results/00/00112233445566778899aabbccddeeff")
        try folder.write(Array("another boot".utf8), to: "cache/lock")

        let second = try open()
        #expect(await second.isLoaded())

        #expect(second.writer.needsScan && second.statistics.tally.entries == 2)
        #expect(folder.entryFiles.count == 2 && folder.entryFiles.contains(file))
        #expect(try await lookUp(second) == body)
        await second.close()
    }

    @Test(
        "A folder whose scan was interrupted is scanned by the next start, and then no more"
    )
    func goesOnScanning() async throws {
        let (first, _) = try await openWithEntry()
        try await first.store(describe("b", body: body), body: body)
        await first.close()
        try folder.remove("cache/index.sqlite")
        // Ended before it has, or maybe just after.
        await (try open()).close()
        try await changeIndex("DELETE FROM entry")
        try folder.write(Array("unscanned".utf8), to: "cache/lock")

        let second = try open()
        #expect(await second.isLoaded())
        #expect(second.writer.needsScan && second.statistics.tally.entries == 2)
        await second.close()

        let third = try open()
        #expect(await third.isLoaded())
        #expect(!third.writer.needsScan && third.statistics.tally.entries == 2)
        await third.close()
    }

    @Test("A power loss is remembered until the folder has been scanned")
    func remembersPowerCut() async throws {
        let (first, _) = try await openWithEntry()
        await first.close()
        try folder.write(Array("another boot".utf8), to: "cache/lock")

        let second = try open()
        #expect(await second.isLoaded())

        #expect(second.writer.needsScan)
        await second.close()
        #expect(try folder.read("cache/lock").allSatisfy { $0 == UInt8(ascii: " ") })
    }

    @Test("A folder is scanned once after its process was killed")
    func scansAfterKill() async throws {
        let (first, file) = try await openWithEntry()
        try await first.store(describe("b", body: body), body: body)
        await first.close()
        try await changeIndex("DELETE FROM entry WHERE id = 1")
        try leaveAsKilled(folder)

        let second = try open()
        #expect(await second.isLoaded())
        #expect(second.writer.needsScan && second.statistics.tally.entries == 2)
        #expect(folder.entryFiles.contains(file))
        await second.close()

        let third = try open()
        #expect(await third.isLoaded())
        #expect(!third.writer.needsScan && third.statistics.tally.entries == 2)
        await third.close()
    }

    @Test(
        "A purge right after a start also removes files that the index does not know yet",
        arguments: [true, false])
    func purgesBeforeTheScan(isByPrefix: Bool) async throws {
        let (first, _) = try await openWithEntry()
        try await first.store(describe("b", body: body), body: body)
        await first.close()
        try await changeIndex("DELETE FROM entry; DELETE FROM source")
        try leaveAsKilled(folder)

        let second = try open()
        let count =
            if isByPrefix {
                try await second.removeAllSources { _ in true }
            } else {
                try await second.removeAll(ofSource: key("source"))
            }

        #expect(count == 2 && folder.entryFiles.isEmpty)
        await second.close()
    }

    private func changeIndex(_ sql: String) async throws {
        try await onThread { [path = folder.path + "/cache/index.sqlite"] in
            let database = try SQLiteConnection(path: path, canWrite: true)
            try database.execute(sql)
            database.close()
        }
    }

    /// Whether the page cache has this page of a file; unlike a read, starts none.
    private static func isInMemory(_ file: OwnedDescriptor, at offset: Int) throws -> Bool {
        let page = try #require(mmap(nil, 4_096, PROT_READ, MAP_SHARED, file.raw, offset))
        defer { munmap(page, 4_096) }
        var state: UInt8 = 0
        #expect(mincore(page, 4_096, &state) == 0)
        return state & 1 != 0
    }

    @Test("A file of which the kernel has but a part in memory is read with waiting, and stays")
    func partlyInMemory() async throws {
        let disk = try openDisk(folder, clock)
        let body = bytes(13_000)
        try await disk.store(describe("a", body: body), body: body)
        let path = try #require(folder.entryFiles.first)
        let file = OwnedDescriptor(owning: Glibc.open(folder.path + "/" + path, O_RDONLY))
        // Its last pages leave the page cache, at once or after another processor has let go of them.
        repeat {
            #expect(fsync(file.raw) == 0)
            #expect(posix_fadvise(file.raw, 8_192, 8_192, CInt(POSIX_FADV_DONTNEED)) == 0)
        } while try Self.isInMemory(file, at: 8_192)

        // The read has the kernel fetch the rest, which may have come by its second call: then there is nothing to wait for.
        do {
            let hit = try disk.find(key("a"), .result, "a", .cached())
            #expect(try hit?.body.readAll() == body)
        } catch let error as DiskCacheError {
            #expect(error == .wouldBlock)
        }
        let hit = try await disk.findOnIOThread(key("a"), .result, "a", .copied)

        #expect(try hit?.body.readAll() == body)
        #expect(disk.statistics.corrupt == 0)
        await disk.close()
    }
}
