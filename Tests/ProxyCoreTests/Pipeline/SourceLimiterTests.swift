// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Pipeline
@testable import Primitives
@testable import URLs

@Suite("The limiter of work in the background")
struct SourceLimiterTests {
    private let keys = (0..<5).map { CacheKey(canonicalText: "\($0)") }

    @Test("Each source is refreshed once at a time")
    func once() {
        var limiter = SourceLimiter(limit: 4, capacity: 9)

        expect(true, limiter.begin(keys[0], at: 0))
        expect(false, limiter.begin(keys[0], at: 0))
        limiter.end(keys[0], at: 0)
        expect(true, limiter.begin(keys[0], at: 0))
    }

    @Test("The number of concurrent refreshes is bounded")
    func bounded() {
        var limiter = SourceLimiter(limit: 2, capacity: 9)

        for key in keys.prefix(2) { expect(true, limiter.begin(key, at: 0)) }
        expect(false, limiter.begin(keys[2], at: 0))
        #expect(limiter.count == 2)
        limiter.end(keys[0], pausedFor: 5, at: 0)
        expect(true, limiter.begin(keys[2], at: 0))
    }

    @Test("One origin has at most its share of the places, one client three quarters")
    func shares() throws {
        let origins = try (0..<5).map { try SourceURL(parsing: "https://\($0).example/").origin }
        var limiter = SourceLimiter(limit: 4, capacity: 9)
        func take(_ number: Int, _ origin: Int, _ client: UInt32) -> Bool {
            limiter.begin(keys[number], at: 0)
                && limiter.assign(keys[number], to: origins[origin], atMost: 2, for: ClientID(v4: client))
        }

        let ofOrigin = [take(0, 0, 1), take(1, 0, 1), take(2, 0, 1)]
        limiter.end(keys[2], at: 0)
        let ofClient = [take(3, 1, 1), take(4, 2, 1)]
        limiter.end(keys[4], at: 0)
        let ofOther = take(4, 2, 2)

        #expect(ofOrigin == [true, true, false])
        #expect(ofClient == [true, false])
        #expect(ofOther)
    }

    @Test("After a failed refresh a source is not refreshed for a while")
    func pause() {
        var limiter = SourceLimiter(limit: 2, capacity: 9)
        _ = limiter.begin(keys[0], at: 100)
        limiter.end(keys[0], pausedFor: 5, at: 100)

        expect(false, limiter.begin(keys[0], at: 104))
        expect(true, limiter.begin(keys[1], at: 104))
        expect(true, limiter.begin(keys[0], at: 105))
    }

    @Test("A clock that is set back does not extend that pause")
    func clockSetBack() {
        var limiter = SourceLimiter(limit: 2, capacity: 9)
        _ = limiter.begin(keys[0], at: 100)
        limiter.end(keys[0], pausedFor: 5, at: 100)

        expect(true, limiter.begin(keys[0], at: 50))
    }

    @Test("A bounded number of failures is remembered")
    func boundedMemory() {
        var limiter = SourceLimiter(limit: 1, capacity: 999)
        for number in 0..<1_000 {
            let key = CacheKey(canonicalText: "\(number)")
            expect(true, limiter.begin(key, at: 0))
            limiter.end(key, pausedFor: 1_000, at: 0)
        }

        expect(true, limiter.begin(CacheKey(canonicalText: "0"), at: 0))
    }

    /// A macro can't hold a call that changes its receiver.
    private func expect(_ expected: Bool, _ found: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(found == expected, sourceLocation: sourceLocation)
    }
}
