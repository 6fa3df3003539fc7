// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ProxyCore

@Suite("The limiter of refreshes")
struct RefreshDeskTests {
    private let keys = (0..<5).map { CacheKey(canonicalText: "\($0)") }

    @Test("Each source is refreshed once at a time")
    func once() {
        var desk = RefreshDesk(limit: 4, pause: 5)

        expect(true, desk.begin(keys[0], at: 0))
        expect(false, desk.begin(keys[0], at: 0))
        desk.end(keys[0], hasFailed: false, at: 0)
        expect(true, desk.begin(keys[0], at: 0))
    }

    @Test("The number of concurrent refreshes is bounded")
    func bounded() {
        var desk = RefreshDesk(limit: 2, pause: 5)

        for key in keys.prefix(2) { expect(true, desk.begin(key, at: 0)) }
        expect(false, desk.begin(keys[2], at: 0))
        #expect(desk.count == 2)
        desk.end(keys[0], hasFailed: true, at: 0)
        expect(true, desk.begin(keys[2], at: 0))
    }

    @Test("After a failed refresh a source is not refreshed for a while")
    func pause() {
        var desk = RefreshDesk(limit: 2, pause: 5)
        _ = desk.begin(keys[0], at: 100)
        desk.end(keys[0], hasFailed: true, at: 100)

        expect(false, desk.begin(keys[0], at: 104))
        expect(true, desk.begin(keys[1], at: 104))
        expect(true, desk.begin(keys[0], at: 105))
    }

    @Test("A clock that is set back does not extend that pause")
    func clockSetBack() {
        var desk = RefreshDesk(limit: 2, pause: 5)
        _ = desk.begin(keys[0], at: 100)
        desk.end(keys[0], hasFailed: true, at: 100)

        expect(true, desk.begin(keys[0], at: 50))
    }

    @Test("A bounded number of failures is remembered")
    func boundedMemory() {
        var desk = RefreshDesk(limit: 1, pause: 1_000)
        for number in 0..<1_000 {
            let key = CacheKey(canonicalText: "\(number)")
            expect(true, desk.begin(key, at: 0))
            desk.end(key, hasFailed: true, at: 0)
        }

        expect(true, desk.begin(CacheKey(canonicalText: "0"), at: 0))
    }

    /// A macro can't hold a call that changes its receiver.
    private func expect(_ expected: Bool, _ found: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(found == expected, sourceLocation: sourceLocation)
    }
}
