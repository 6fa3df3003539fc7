// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

@Suite("How fast a client takes its answers")
struct WritePaceTests {
    private static let timeout: UInt64 = 1_000

    /// When a client is given up that has taken `taken(t)` bytes by the time t, looked at each 10.
    private func end(least: Int, _ taken: @escaping (UInt64) -> Int) -> UInt64? {
        var pace = WritePace(at: 0, taken: taken(0), timeout: Self.timeout)
        return stride(from: UInt64(10), through: 20 * Self.timeout, by: 10).first { now in
            !pace.isKept(at: now, taken: { taken(now) }, timeout: Self.timeout, least: least)
        }
    }

    @Test("One that takes nothing is given up after one write timeout, and not after two")
    func nothing() throws {
        let end = try #require(end(least: 100) { _ in 0 })

        #expect((Self.timeout...(Self.timeout * 5 / 4)).contains(end))
    }

    @Test("What was on its way when the socket was full does not count for long")
    func onItsWay() throws {
        let end = try #require(end(least: 100) { $0 < 10 ? 0 : 1_000_000 })

        #expect((Self.timeout...(Self.timeout * 5 / 4)).contains(end))
    }

    @Test("One that takes too little in one write timeout has the next one to make up for it")
    func little() {
        #expect(end(least: 100) { Int($0 / 25) } == 2_010)
        // As a window opens: in one step.
        #expect(end(least: 100) { $0 < 900 ? 0 : Int($0 / 900) * 200 } == nil)
    }

    @Test("One that takes enough is never given up")
    func enough() {
        #expect(end(least: 100) { Int($0 / 5) } == nil)
    }
}
