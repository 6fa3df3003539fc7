// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Cache
@testable import Primitives

@Suite("A ping of the disk tier's writer")
struct WriterPingTests {
    @Test("A ping is answered although no job is accepted")
    func withoutSpace() async throws {
        let folder = try TemporaryDirectory()
        let disk = try openDisk(folder, SteppedClock()) { $0.limits.maxWaitingWrites = 0 }
        while !disk.statistics.isComplete { await Task.yield() }
        let body = bytes(100)

        await #expect(throws: DiskCacheError.overloaded) {
            try await disk.store(describe("a", body: body), body: body)
        }
        await disk.ping()
        await disk.close()
    }

    @Test("A writer that works answers a ping, one that is stuck does not")
    func stuck() async throws {
        let (folder, clock, gate) = (try TemporaryDirectory(), SteppedClock(), DispatchGate())
        let disk = try openDisk(folder, clock) { $0.maxAge = .seconds(10) }
        await disk.ping()
        let body = bytes(100)
        try await disk.store(describe("a", body: body), body: body)
        let events = Observed<[String]>([])
        disk.whenSwept { _ in
            events.update { $0.append("stuck") }
            gate.pass()
        }
        clock.advance(by: 1_000)
        async let swept = disk.sweep()
        await events.wait { $0 == ["stuck"] }

        async let answered: Void = {
            await disk.ping()
            events.update { $0.append("answered") }
        }()
        for _ in 0..<1_000 { await Task.yield() }
        events.update { $0.append("released") }
        gate.open()
        _ = try await swept
        await answered

        // Sweeps that run after the end of the test do not matter.
        #expect(events.value.filter { $0 != "stuck" } == ["released", "answered"])
        await disk.close()
        // At once: nothing is left that could stall.
        await disk.ping()
    }
}
