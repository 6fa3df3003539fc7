// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Bodies
@testable import Freshness
@testable import Imaging
@testable import Primitives

@Suite("The freshness of statuses")
struct StatusReuseTests {
    /// When the responses of these tests were generated.
    private let date: Int64 = 1_795_219_200

    @Test(
        "must-understand overrides no-store if the status is understood, and forbids storing otherwise (RFC 9111 §5.2.2.3)"
    )
    func mustUnderstand() {
        #expect(directives([("cache-control", "no-store, must-understand")]) == .liftedNoStore)
        #expect(directives([("cache-control", "must-understand, private")]) == .isPrivate)
        for (status, forbids) in [(203, false), (404, false), (499, true), (599, true)] {
            for value in ["max-age=60, no-store, must-understand", "max-age=60, must-understand"] {
                let verdict = policy().verdict(on: head([("cache-control", value)], status: status))
                #expect(verdict.directives.contains(.noStore) == forbids, "\(status) \(value)")
            }
        }
        let unknown = head([("cache-control", "max-age=60, no-store, must-understand")], status: 499)
        #expect(policy().lifetime(ofRefusal: unknown) == 0)
    }

    @Test(
        "A default lifetime applies only to statuses that allow it, or with public (RFC 9111 §3, §4.2.2)",
        arguments: [
            (200, "", 86_400), (203, "", 86_400), (404, "", 86_400), (501, "", 86_400), (201, "", 0),
            (403, "", 0), (503, "", 0), (599, "", 0), (503, "public", 86_400), (503, "max-age=7", 7),
            (503, "s-maxage=7", 7),
        ] as [(Int, String, Int64)])
    func heuristicStatus(status: Int, control: String, lifetime: Int64) throws {
        let fields = [("date", http(date)), ("last-modified", http(date - 1_000))]
        let controlled = control.isEmpty ? fields : fields + [("cache-control", control)]
        let verdict = policy().verdict(on: head(controlled, status: status))
        #expect(verdict.freshnessLifetime == lifetime)
        // Nor is it served stale by the default windows: those replace the origin's, too.
        #expect(verdict.directives.contains(.mustRevalidate) == (lifetime == 0))
        // A default lifetime counts as heuristic, like a tenth of an age.
        let silent = policy().verdict(on: head([], status: status))
        #expect((silent.freshnessLifetime > 0) == [200, 203, 404, 501].contains(status))
    }

    @Test("A 304 gives no default lifetime to a response whose status allows none (RFC 9111 §4.3.4)")
    func heuristicStatusBehind304() {
        let stored = policy().record(
            key: CacheKey(canonicalText: "x"), keyText: "x", contentHash: ContentHash(of: [1]), byteCount: 1,
            format: .png, head: head([("etag", "\"a\"")], status: 503))
        let confirmed = policy().updating(stored, with: head([], status: 304))
        #expect(confirmed.reuse.freshnessLifetime == 0)
        #expect(confirmed.reuse.directives.contains(.mustRevalidate))
        let updated = policy().updating(confirmed, with: head([("cache-control", "max-age=9")], status: 304))
        #expect(updated.reuse.freshnessLifetime == 9)
        #expect(!updated.reuse.directives.contains(.mustRevalidate))
    }

    @Test("An error without freshness information is still remembered by the table of errors")
    func silentRefusal() {
        #expect(policy().lifetime(ofRefusal: head([], status: 403)) == nil)
    }

    // MARK: - Helpers

    private func directives(_ fields: [(String, String)]) -> SourceRecord.Directives {
        policy().verdict(on: head(fields)).directives
    }

    private func policy() -> FreshnessPolicy { FreshnessPolicy(configuration: FreshnessConfiguration()) }

    private func http(_ seconds: Int64) -> String { HTTPDate(seconds: seconds).description }

    private func head(_ fields: [(String, String)], status: Int = 200) -> OriginHead {
        OriginHead(
            status: status, fields: fields.map { HeaderField(name: $0.0, value: $0.1) },
            contentLength: nil, requestTime: WallTime(seconds: date), responseTime: WallTime(seconds: date))
    }
}
