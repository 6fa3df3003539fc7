// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Loading
@testable import Primitives

@Suite("The clock of a transfer")
struct TransferClockTests {
    private let start = ContinuousClock.now

    @Test("returns the phase whose deadline has passed")
    func phases() {
        var clock = clock()

        clock.beginHop(at: start)
        #expect(clock.deadline == start + .seconds(5))
        #expect(clock.check(at: start + .seconds(4)) == nil)
        #expect(clock.check(at: start + .seconds(5)) == .connect)

        clock.requestSent(at: start + .seconds(4))
        #expect(!clock.isConnecting)
        #expect(clock.check(at: start + .seconds(18)) == nil)
        #expect(clock.check(at: start + .seconds(19)) == .firstByte)
    }

    @Test("bounds the whole fetch, over all hops")
    func total() {
        var clock = clock()
        for hop in 0..<4 {
            clock.beginHop(at: start + .seconds(hop * 14))
            clock.requestSent(at: start + .seconds(hop * 14))
        }

        #expect(clock.deadline == start + .seconds(57))
        clock.beginHop(at: start + .seconds(56))
        #expect(clock.deadline == start + .seconds(60))
        #expect(clock.check(at: start + .seconds(60)) == .transfer)
    }

    @Test("ends a transfer that is slow over a whole window, and starts a new window after a fast one")
    func lowSpeed() {
        var clock = clock()
        clock.received(bodyBytes: 0, at: start)

        clock.received(bodyBytes: 10_240, at: start + .seconds(1))
        #expect(clock.check(at: start + .seconds(10)) == nil)
        clock.received(bodyBytes: 10_239, at: start + .seconds(11))
        #expect(clock.check(at: start + .seconds(19)) == nil)
        #expect(clock.check(at: start + .seconds(20)) == .transfer)
    }

    @Test("waits only briefly for the rest of an unneeded response, however much of it arrives")
    func drain() {
        var clock = clock()
        clock.received(bodyBytes: 0, at: start)

        clock.drain(at: start)
        clock.received(bodyBytes: 1 << 20, at: start + .milliseconds(50))

        #expect(clock.deadline == start + TransferClock.drainTime)
        #expect(clock.check(at: start + .milliseconds(99)) == nil)
        #expect(clock.check(at: start + TransferClock.drainTime) == .transfer)
    }

    @Test("checks no speed if that is off")
    func lowSpeedOff() {
        var clock = clock { $0.lowSpeed = ByteCount(0) }
        clock.received(bodyBytes: 0, at: start)

        #expect(clock.check(at: start + .seconds(59)) == nil)
    }

    private func clock(_ configure: (inout FetchConfiguration) -> Void = { _ in }) -> TransferClock {
        var configuration = FetchConfiguration()
        configure(&configuration)
        return TransferClock(configuration: configuration, startedAt: start)
    }
}
