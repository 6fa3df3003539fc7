// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import ProxyCore

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

    @Test("It says so, keeps serving, deletes and then stores again")
    func survives() async throws {
        let small = try #require(try SmallFileSystem(size: "6m"))
        let disk = try openDisk(small.folder, SteppedClock())

        let count = try await fill(disk)

        #expect((10..<100).contains(count))
        #expect(disk.statistics.writeErrors > 0 && disk.statistics.tally.entries == count)
        let hit = try await disk.lookUp(key("0"), kind: .result, keyText: "0")
        #expect(try hit?.body.readAll() == body)
        #expect(try await disk.removeAll(ofSource: key("source")) == count)
        #expect(small.folder.entryFiles.isEmpty)
        #expect(try await fill(disk) > 10)
        await disk.close()
    }

    @Test("A disk that somebody else filled to the last byte lets entries be deleted")
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

    /// Takes all the space there is.
    private func fillUp(_ path: String) async throws -> OwnedDescriptor {
        let file = OwnedDescriptor(owning: creat(path, 0o600))
        for step in [65_536, 4_096] {
            while Glibc.write(file.raw, bytes(step), step) == step {}
        }
        return file
    }
}
