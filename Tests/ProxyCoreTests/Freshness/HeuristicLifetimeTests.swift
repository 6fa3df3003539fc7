// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Bodies
@testable import Freshness
@testable import Imaging
@testable import Primitives

@Suite("Heuristic lifetimes")
struct HeuristicLifetimeTests: FreshnessTesting {
    @Test(
        "Without a lifetime from the origin the default applies, or a configured share of the time since Last-Modified"
    )
    func heuristic() {
        var configuration = FreshnessConfiguration()
        configuration.heuristic.factor = 0.1
        configuration.heuristic.minimum = .seconds(60)
        configuration.heuristic.maximum = .seconds(500)

        #expect(lifetime([("last-modified", http(date - 1_000))]) == 86_400)
        for (age, seconds) in [(1_000, 100), (30, 60), (90_000, 500)] as [(Int64, Int64)] {
            #expect(lifetime([("last-modified", http(date - age))], configuration) == seconds)
        }
    }

    @Test("A heuristic lifetime grows with a 304's date (RFC 9111 §4.2.2)")
    func heuristicGrows() throws {
        var configuration = FreshnessConfiguration()
        configuration.heuristic.factor = 0.1
        configuration.heuristic.minimum = .seconds(0)
        let policy = policy(configuration)
        let first = head([("last-modified", http(date - 1_000)), ("date", http(date))])
        let stored = policy.record(
            key: CacheKey(canonicalText: "x"), keyText: "x", contentHash: ContentHash(of: [1]), byteCount: 1,
            format: .png, head: first)
        let head = head([("date", http(date + 1_000))], status: 304, responseTime: date + 1_000)

        #expect(stored.reuse.freshnessLifetime == 100)
        #expect(policy.updating(stored, with: head).reuse.freshnessLifetime == 200)
    }
}
