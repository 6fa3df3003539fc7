// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Bodies
@testable import Cache

@Suite("Disk tier: full disk", .enabled(if: SmallFileSystem.isAvailable, "needs the right to mount a tmpfs"))
struct DiskCacheFullTests {
    private let body = bytes(100_000)

    private func fill(_ disk: DiskCache) async throws -> Int {
        for number in 0..<1_000 {
            do {
                try await disk.store(describe("\(number)", body: body), body: body)
            } catch .full {
                return number
            }
        }
        return 1_000
    }

    @Test(
        "A full disk is logged once, the tier keeps serving, removes the oldest entries, stores again, and logs that"
    )
    func survives() async throws {
        let small = try #require(try SmallFileSystem(size: "6m"))
        let (clock, events) = (SteppedClock(), Observed<[DiskEvent]>([]))
        let disk = try DiskCache(
            directory: small.folder.path + "/cache", clock: { clock.time }, pause: { _ in },
            report: { event in events.update { $0.append(event) } })
        #expect(await disk.isLoaded())

        let count = try await fill(disk)

        #expect((10..<100).contains(count))
        let last = "\(count - 1)"
        #expect(try await disk.lookUp(key(last), kind: .result, keyText: last)?.body.readAll() == body)
        // The sweep follows the one in progress, if there is one: its result shows what was removed.
        try await disk.sweep()
        #expect(disk.statistics.evictions[.size] ?? 0 > 0)
        clock.advance(by: 5)
        try await disk.store(describe("later", body: body), body: body)
        #expect(events.value == [.full, .working])
        #expect(try await disk.removeAll(ofSource: key("source")) > 10)
        #expect(small.folder.entryFiles.isEmpty)
        await disk.close()
    }

    @Test("A start on a full disk uses the space of some entries")
    func startsFull() async throws {
        let small = try #require(try SmallFileSystem(size: "8m"))
        let clock = SteppedClock()
        let first = try openDisk(small.folder, clock)
        for number in 0..<30 { try await first.store(describe("\(number)", body: body), body: body) }
        await first.close()
        let other = try await fillUp(small.folder.path + "/other")

        let disk = try openDisk(small.folder, clock)

        #expect(await disk.isLoaded())
        var found = 0
        for number in 0..<30 {
            let name = "\(number)"
            guard let hit = try await disk.lookUp(key(name), kind: .result, keyText: name) else { continue }
            #expect(try hit.body.readAll() == body)
            found += 1
        }
        #expect((1..<30).contains(found))
        await disk.close()
        _ = other
    }

    @Test("Entries can be deleted from a disk that another program has filled to the last byte")
    func deletesOnFullDisk() async throws {
        let small = try #require(try SmallFileSystem(size: "6m"))
        let disk = try openDisk(small.folder, SteppedClock())
        let few = bytes(1_000)
        for number in 0..<200 { try await disk.store(describe("\(number)", body: few), body: few) }
        let other = try await fillUp(small.folder.path + "/other")

        #expect(try await disk.removeAll(ofSource: key("source")) == 200)
        #expect(small.folder.entryFiles.isEmpty && disk.statistics.tally == DiskTally())
        await disk.close()
        _ = other
    }

    @Test("Everything, one entry or a tag can be purged from a full disk, which then stores again")
    func purgesOnFullDisk() async throws {
        let small = try #require(try SmallFileSystem(size: "6m"))
        let disk = try openDisk(small.folder, SteppedClock())
        let some = bytes(20_000)
        let link = TagLink(tag: "tag", result: key("0"), source: key("source"))
        for number in 0..<100 { try await disk.store(describe("\(number)", body: some), body: some) }
        try await disk.link([link])
        let other = try await fillUp(small.folder.path + "/other")

        #expect(try await disk.remove(key("1"), kind: .result))
        #expect(try await disk.removeAll(taggedWith: "tag") { _ in } > 0)
        for number in 0..<50 { try await disk.store(describe("\(number)", body: some), body: some) }
        let more = try await fillUp(small.folder.path + "/more")
        #expect(try await disk.removeAll() == 50)
        try await disk.sweep()
        try await disk.store(describe("later", body: some), body: some)

        #expect(small.folder.entryFiles.count == 1 && disk.statistics.tally.entries == 1)
        await disk.close()
        #expect(await (try openDisk(small.folder, SteppedClock())).isLoaded())
        _ = (other, more)
    }

    @Test("Everything can be purged from a file system without a free inode")
    func purgesWithoutInodes() async throws {
        let small = try #require(try SmallFileSystem(size: "16m,nr_inodes=120"))
        let disk = try openDisk(small.folder, SteppedClock())
        let few = bytes(1_000)
        for number in 0..<20 { try await disk.store(describe("\(number)", body: few), body: few) }
        var others: [OwnedDescriptor] = []
        while case let file = creat(small.folder.path + "/\(others.count)", 0o600), file >= 0 {
            others.append(OwnedDescriptor(owning: file))
        }

        #expect(!others.isEmpty)
        #expect(try await disk.removeAll() == 20)
        #expect(disk.statistics.tally == DiskTally())
        await disk.close()
    }

    /// Fills all free space.
    private func fillUp(_ path: String) async throws -> OwnedDescriptor {
        let file = OwnedDescriptor(owning: creat(path, 0o600))
        for step in [65_536, 4_096] {
            while Glibc.write(file.raw, bytes(step), step) == step {}
        }
        return file
    }
}
