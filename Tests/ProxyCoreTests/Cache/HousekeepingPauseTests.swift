// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Cache

@Suite("Pauses in the disk tier's housekeeping")
struct HousekeepingPauseTests {
    @Test("A scan pauses after its steps, for at most 5 ms each")
    func scan() async throws {
        let (folder, clock, pauses) = (try TemporaryDirectory(), SteppedClock(), Observed<[UInt32]>([]))
        let first = try openDisk(folder, clock)
        try await first.store(describe("a", body: bytes(100)), body: bytes(100))
        await first.close()
        try leaveAsKilled(folder)

        let second = try openDisk(folder, clock, pause: { time in pauses.update { $0.append(time) } })
        while !second.statistics.isComplete { await Task.yield() }
        await second.close()

        #expect(second.writer.needsScan)
        #expect(pauses.value.count > 100 && pauses.value.allSatisfy { $0 <= 5_000 })
    }
}
