// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Observability
import Primitives
import TestSupport
import Testing

@testable import ImageProxyd

@Suite("Free memory of the heap")
struct HeapTrimTests {
    @Test("What lies between blocks in use goes back to the kernel, if it is much")
    func trims() throws {
        // Blocks far below the size that is mapped by itself, every hundredth of which stays in use.
        let blocks = try (0..<200_000).map { _ in
            let block = try unsafe #require(malloc(1_000))
            unsafe memset(block, 1, 1_000)
            return UInt(bitPattern: block)
        }
        let full = try #require(ProcessMemory.unshared())
        let kept = blocks.indices.filter { $0 % 100 == 0 }
        for index in blocks.indices where index % 100 != 0 {
            unsafe free(UnsafeMutableRawPointer(bitPattern: blocks[index]))
        }

        var least = 0
        MemoryPressureController.trim(&least)

        let after = try #require(ProcessMemory.unshared())
        // Other tests allocate meanwhile.
        #expect(full - after > 100 << 20, "\(full >> 20) MiB, \(after >> 20) MiB")
        for index in kept { unsafe free(UnsafeMutableRawPointer(bitPattern: blocks[index])) }
    }

    /// Kilobytes of files that are mapped and in memory.
    private func mappedPages() throws -> Int {
        let status = String(
            decoding: try FileIO.contents(of: "/proc/self/status", atMost: .kibibytes(64)), as: UTF8.self)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssFile:") })
        return try #require(Int(line.split(separator: " ")[1]))
    }

    @Test("Code that ran at the start alone leaves the process, and what is needed again is there")
    func unmapping() throws {
        let before = try mappedPages()

        // Other tests run meanwhile, and read the pages that they need.
        var after = Int.max
        for _ in 0..<20 where after >= before {
            linux_unmap_clean_pages()
            after = try mappedPages()
        }

        #expect(after < before, "\(before) kB, \(after) kB")
    }
}
