// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

@Suite("The rate at which a client reads its answers")
struct WritePaceTests {
    private static let timeout: UInt64 = 1_000

    /// When a client is cut that has read `taken(t)` octets by the time t, checked each 10; the minimum is
    /// 100 in one timeout.
    private func end(_ taken: @escaping (UInt64) -> Int) -> UInt64? {
        var configuration = HTTPServer.Configuration()
        configuration.writeTimeout = .nanoseconds(Int(Self.timeout))
        configuration.minSendRate = 100_000_000
        let times = LoopTimes(configuration)
        var pace = WritePace()
        pace.start(taken: taken(0), at: 0, times)
        return stride(from: UInt64(10), through: 20 * Self.timeout, by: 10).first { now in
            !pace.isFastEnough(at: now, times) { taken(now) }
        }
    }

    @Test("A client that reads nothing is cut after one write timeout, not after two")
    func nothing() throws {
        let end = try #require(end { _ in 0 })

        #expect((Self.timeout...(Self.timeout + 10)).contains(end))
    }

    @Test("Bytes that were being sent when the socket was full do not count for long")
    func onItsWay() throws {
        let end = try #require(end { $0 < 10 ? 0 : 1_000_000 })

        #expect((Self.timeout...(Self.timeout + 10)).contains(end))
    }

    @Test("A client that reads too little in one write timeout can make up for it in the next one")
    func little() {
        #expect(end { Int($0 / 25) } == 2_000)
        // As a window opens: in one step.
        #expect(end { $0 < 900 ? 0 : Int($0 / 900) * 200 } == nil)
    }

    @Test("A client that reads enough is never cut")
    func enough() {
        #expect(end { Int($0 / 5) } == nil)
    }
}
