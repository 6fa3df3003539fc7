// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import Observability

@Suite("Memory of other processes")
struct ProcessMemoryTests {
    @Test("The share of shared pages counts: the line Pss of smaps_rollup")
    func proportional() {
        let text = "5581-7ffd ---p 00000000 00:00 0 [rollup]\nRss:  4096 kB\nPss:  1500 kB\nPss_Anon: 3 kB\n"

        #expect(ProcessMemory.proportional(rollup: text) == 1_500 << 10)
        #expect(ProcessMemory.proportional(rollup: "Rss: 4096 kB\n") == nil)
    }

    @Test("Where the kernel hides that, resident pages without shared ones count")
    func unshared() {
        #expect(ProcessMemory.unshared(statm: "900 300 100 5 0 200 0\n", pageSize: 4_096) == 200 * 4_096)
        #expect(ProcessMemory.unshared(statm: "", pageSize: 4_096) == nil)
    }

    @Test("This process takes some memory, and no more than is resident")
    func own() throws {
        let bytes = try #require(ProcessMemory.bytes(of: getpid()))

        #expect(bytes > 1 << 20)
        // What other threads of this test take meanwhile.
        #expect(bytes < (ProcessMetrics.residentBytes ?? 0) + (512 << 20))
        #expect(ProcessMemory.bytes(of: -1) == nil)
    }
}
