// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Bodies
@testable import Freshness
@testable import Imaging
@testable import Origins
@testable import Primitives

@Suite("Lifetimes of an origin rule")
struct OriginRuleLifetimeTests {
    private func rule(_ change: (inout OriginRuleConfiguration.TTL) -> Void) throws -> OriginRule {
        var (configuration, ttl) = (OriginRuleConfiguration(), OriginRuleConfiguration.TTL())
        change(&ttl)
        (configuration.match, configuration.responseTTL) = (["*://*"], ttl)
        return try OriginRule(configuration, at: 0, secrets: .checking)
    }

    @Test("They replace those of responses, but do not change whether a response may be stored")
    func lifetimes() throws {
        let override = try rule { $0.override = .hours(1) }
        let bounds = try rule {
            $0.minimum = .minutes(1)
            $0.maximum = .minutes(2)
        }
        var record = SourceRecord(
            key: CacheKey(high: 0, low: 0), keyText: "", contentHash: ContentHash(of: []), byteCount: 0,
            format: .png,
            responseTime: WallTime(seconds: 1_000), initialAge: .seconds(5), freshnessLifetime: 10,
            directives: [.noCache, .noStore])

        override.apply(to: &record)
        #expect(record.isFresh(at: WallTime(seconds: 1_000 + 3_599)))
        #expect(!record.isFresh(at: WallTime(seconds: 1_000 + 3_601)))
        #expect(record.reuse.directives.forbidStoring)

        bounds.apply(to: &record)
        #expect(record.reuse.freshnessLifetime == 120)
        record.reuse.freshnessLifetime = 3
        bounds.apply(to: &record)
        #expect(record.reuse.freshnessLifetime == 60)
    }
}
