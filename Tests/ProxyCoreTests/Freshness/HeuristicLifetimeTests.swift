// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ProxyCore

@Suite("Lifetimes that no origin names")
struct HeuristicLifetimeTests {
    /// When the responses of these tests were generated.
    private let date: Int64 = 1_795_219_200

    @Test(
        "without a word of the origin the default holds, or a share of the time since Last-Modified where one is set"
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

    @Test("a heuristic lifetime grows with a 304's date (RFC 9111 §4.2.2)")
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

        #expect(stored.freshnessLifetime == 100)
        #expect(policy.updating(stored, with: head).freshnessLifetime == 200)
    }

    // MARK: - Helpers

    private func policy(_ configuration: FreshnessConfiguration = FreshnessConfiguration()) -> FreshnessPolicy
    {
        FreshnessPolicy(configuration: configuration)
    }

    private func http(_ seconds: Int64) -> String { HTTPDate(seconds: seconds).description }

    private func lifetime(
        _ fields: [(String, String)], _ configuration: FreshnessConfiguration = FreshnessConfiguration()
    ) -> Int64 {
        policy(configuration).verdict(on: head(fields + [("date", http(date))])).freshnessLifetime
    }

    private func head(
        _ fields: [(String, String)], status: Int = 200, responseTime: Int64? = nil
    ) -> OriginHead {
        OriginHead(
            status: status, fields: fields.map { OriginRequest.Field(name: $0.0, value: $0.1) },
            contentLength: nil, requestTime: responseTime ?? date, responseTime: responseTime ?? date)
    }
}
