// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Bodies
@testable import Freshness
@testable import Imaging
@testable import Primitives

@Suite("The age of a stored response (RFC 9111 §4.2.3)")
struct AgeTests: FreshnessTesting {
    /// A response that was received 50 ms before a second ends.
    private func record(initialAge: TimeSpan = .zero) -> SourceRecord {
        SourceRecord(
            key: CacheKey(canonicalText: "x"), keyText: "x", contentHash: ContentHash(of: [1]), byteCount: 1,
            format: .png, responseTime: received, initialAge: initialAge, freshnessLifetime: 1)
    }

    private var received: WallTime { WallTime(milliseconds: date * 1_000 + 950) }

    private func after(_ milliseconds: Int64) -> WallTime {
        WallTime(milliseconds: received.milliseconds + milliseconds)
    }

    @Test(
        "A stored response ages by the whole seconds that have passed, wherever a second of the clock ends",
        arguments: [(0, 0), (50, 0), (999, 0), (1_000, 1), (1_050, 1), (1_999, 1), (2_000, 2)]
            as [(Int64, Int64)])
    func ages(milliseconds: Int64, age: Int64) {
        #expect(record().currentAge(at: after(milliseconds)) == age)
    }

    @Test("A stored response is fresh to the last millisecond of its lifetime, and no longer")
    func isFresh() {
        #expect(record().isFresh(at: after(999)) && record().staleness(at: after(999)) == -1)
        #expect(!record().isFresh(at: after(1_000)) && record().staleness(at: after(1_000)) == 0)
    }

    @Test("A clock that is a few milliseconds late, or was set back, gives no negative age")
    func lateClock() {
        #expect(record().currentAge(at: after(-4)) == 0 && record().isFresh(at: after(-4)))
        #expect(record(initialAge: .milliseconds(1_100)).currentAge(at: after(-4)) == 1)
        #expect(record().isFresh(at: after(-2_000)) && !record().isFresh(at: after(-2_001)))
    }

    @Test("The milliseconds of the initial age and those since count together, so that no lifetime is longer")
    func sum() {
        let slow = record(initialAge: .milliseconds(600))

        #expect(slow.currentAge(at: after(399)) == 0 && slow.isFresh(at: after(399)))
        #expect(slow.currentAge(at: after(400)) == 1 && !slow.isFresh(at: after(400)))
    }

    @Test("The response delay counts in milliseconds, with an Age of whole seconds")
    func delay() {
        var head = head([("age", "7"), ("date", http(date))], requestTime: date, responseTime: date)
        head.delay = .milliseconds(1_234)

        #expect(policy().verdict(on: head).initialAge == .milliseconds(8_234))
        head.fields.removeFirst()
        head.responseTime = WallTime(milliseconds: date * 1_000 + 1_234)
        #expect(policy().verdict(on: head).initialAge == .milliseconds(1_234))
    }

    @Test("A response with an earlier Date than its request is as old as that says, to the millisecond")
    func apparent() {
        var head = head([("date", http(date))], requestTime: date + 5)
        head.responseTime = WallTime(milliseconds: (date + 5) * 1_000 + 300)
        head.delay = .milliseconds(20)

        #expect(policy().verdict(on: head).initialAge == .milliseconds(5_300))
    }

    @Test("For another machine the time since is whole seconds, and the rest is in the initial age")
    func forOthers() {
        let (sent, age) = record(initialAge: .milliseconds(600)).forOthers(at: after(2_700))
        var received = sent
        received.reuse.responseTime = WallTime(seconds: 50) - .seconds(Int(age))

        #expect(age == 2 && sent.reuse.initialAge == .milliseconds(1_300))
        #expect(received.currentAge(at: WallTime(seconds: 50)) == 3)
        #expect(record().forOthers(at: after(-5)).age == 0)
    }
}
