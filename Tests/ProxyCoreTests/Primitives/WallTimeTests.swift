// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Primitives

@Suite("Times of the wall clock")
struct WallTimeTests {
    @Test(
        "Whole seconds are rounded down, also before 1970",
        arguments: [(0, 0), (999, 0), (1_000, 1), (1_800_000_000_999, 1_800_000_000), (-1, -1), (-1_000, -1)]
            as [(Int64, Int64)])
    func seconds(milliseconds: Int64, seconds: Int64) {
        #expect(WallTime(milliseconds: milliseconds).seconds == seconds)
    }

    @Test("The time since a later time is zero")
    func elapsed() {
        let (earlier, later) = (WallTime(milliseconds: 1_999), WallTime(milliseconds: 3_000))

        #expect(later.elapsed(since: earlier) == .milliseconds(1_001))
        #expect(earlier.elapsed(since: later) == .zero)
        #expect(earlier < later && later - .milliseconds(1_001) == earlier)
    }

    @Test("Seconds that no clock shows are pinned, and their differences do not overflow")
    func pinned() {
        let (first, last) = (WallTime(seconds: .min), WallTime(seconds: .max))

        #expect(first.seconds == -(1 << 44) && last.seconds == 1 << 44)
        #expect(last.elapsed(since: first) == .seconds(1 << 45))
    }

    @Test("The coarse clock shows the time to milliseconds, and no later than the exact one")
    func coarse() {
        let coarse = SystemTime.coarse()

        #expect(coarse <= SystemTime.now())
        #expect(SystemTime.now().elapsed(since: coarse) < .minutes(1))
        #expect(abs(SystemTime.now().seconds - SystemTime.seconds()) <= 60)
    }
}
