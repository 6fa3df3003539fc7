// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Bodies
@testable import Freshness
@testable import Imaging
@testable import Primitives

@Suite("The reuse of a stored response")
struct ReuseTests {
    private let date: Int64 = 1_795_219_200

    /// Seconds after generation, the directives of origin and client, and the permitted reuse.
    struct Row: Sendable {
        let age: Int64
        let origin: String
        var client: String?
        let reuse: FreshnessPolicy.Reuse

        init(_ age: Int64, _ origin: String, _ reuse: FreshnessPolicy.Reuse, client: String? = nil) {
            (self.age, self.origin, self.reuse, self.client) = (age, origin, reuse, client)
        }
    }

    @Test(
        "A fresh response is reused, a stale one only if the origin permits it (RFC 9111 §4.2.4, RFC 5861 §3)",
        arguments: [
            Row(59, "max-age=60", .fresh), Row(60, "max-age=60", .forbidden), Row(0, "max-age=0", .forbidden),
            Row(0, "max-age=60, no-cache", .forbidden),
            Row(60, "max-age=60, stale-while-revalidate=10", .whileRevalidating),
            Row(69, "max-age=60, stale-while-revalidate=10", .whileRevalidating),
            Row(70, "max-age=60, stale-while-revalidate=10", .forbidden),
            Row(60, "max-age=60, stale-while-revalidate=10, must-revalidate", .forbidden),
            Row(60, "max-age=60, stale-while-revalidate=10, proxy-revalidate", .forbidden),
            Row(60, "s-maxage=60, stale-while-revalidate=10", .forbidden),
            Row(60, "max-age=60, stale-while-revalidate=10, no-cache", .forbidden),
            Row(59, "s-maxage=60, must-revalidate, immutable", .fresh),
            // Stored while the clock was ahead.
            Row(-2, "max-age=60", .fresh), Row(-3, "max-age=60", .forbidden),
            Row(-3, "max-age=60, stale-while-revalidate=10", .forbidden),
        ])
    func origins(row: Row) throws {
        try check(row)
    }

    @Test(
        "The default stale window applies only if the origin says nothing about freshness; a lifetime alone permits no staleness"
    )
    func ours() throws {
        try check(Row(86_400, "public", .whileRevalidating))
        try check(Row(2 * 86_400, "public", .forbidden))
        try check(Row(86_400, "stale-while-revalidate=0", .forbidden))
        try check(Row(86_400, "must-revalidate", .forbidden))
    }

    @Test(
        "Clients narrow or widen the reuse (RFC 9111 §5.2.1)",
        arguments: [
            Row(10, "max-age=60", .forbidden, client: "no-cache"),
            Row(10, "max-age=60", .fresh, client: "max-age=10"),
            Row(11, "max-age=60", .forbidden, client: "max-age=10"),
            Row(0, "max-age=60", .forbidden, client: "max-age=0"),
            Row(50, "max-age=60", .fresh, client: "min-fresh=10"),
            Row(51, "max-age=60", .forbidden, client: "min-fresh=10"),
            Row(65, "max-age=60", .asClientAllows, client: "max-stale"),
            Row(65, "max-age=60", .asClientAllows, client: "max-stale=5"),
            Row(66, "max-age=60", .forbidden, client: "max-stale=5"),
            Row(65, "max-age=60, must-revalidate", .forbidden, client: "max-stale"),
            Row(65, "s-maxage=60", .forbidden, client: "max-stale"),
            Row(65, "max-age=60", .asClientAllows, client: "max-age=100, max-stale=9"),
            Row(65, "max-age=60, stale-while-revalidate=9", .forbidden, client: "max-age=100"),
            Row(65, "max-age=60, stale-while-revalidate=9", .forbidden, client: "min-fresh=1"),
            Row(10, "max-age=60", .fresh, client: "only-if-cached"),
            Row(10, "max-age=60", .fresh, client: "no-store"),
        ])
    func clients(row: Row) throws {
        try check(row)
    }

    @Test(
        "A stale response replaces an error as long as the origin, or else the default, permits (RFC 5861 §4)",
        arguments: [
            (69, "max-age=60, stale-if-error=10", true), (70, "max-age=60, stale-if-error=10", false),
            (60, "max-age=60", true), (60 + 7 * 86_400, "max-age=60", false),
            (60, "max-age=60, must-revalidate", false), (60, "max-age=60, no-cache", false),
            (60, "s-maxage=60, stale-if-error=10", false), (10, "max-age=60, must-revalidate", true),
            // The age of what was stored while the clock was ahead is unknown.
            (-3, "max-age=60, must-revalidate", false), (-3, "max-age=60", true),
        ] as [(Int64, String, Bool)])
    func onError(age: Int64, origin: String, isAllowed: Bool) throws {
        let record = record(origin)

        #expect(policy.mayServeOnError(record, at: WallTime(seconds: date + age), for: .none) == isAllowed)
    }

    @Test("A client that requires an end-to-end answer gets the origin's error, too")
    func onErrorDespiteClient() throws {
        let client = RequestDirectives(cacheControl: ["no-cache"], pragma: [])

        #expect(!policy.mayServeOnError(record("max-age=60"), at: WallTime(seconds: date), for: client))
    }

    // MARK: - Helpers

    private let policy = FreshnessPolicy(configuration: FreshnessConfiguration())

    private func check(_ row: Row, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let client = RequestDirectives(cacheControl: row.client.map { [$0] } ?? [], pragma: [])
        let record = record(row.origin)
        let reuse = policy.reuse(of: record, at: WallTime(seconds: date + row.age), for: client)

        #expect(reuse == row.reuse, "\(row)", sourceLocation: sourceLocation)
        if client == .none, row.age >= record.reuse.freshnessLifetime {
            let isServed = policy.mayServeWhileRevalidating(record, at: WallTime(seconds: date + row.age))
            #expect(isServed == (row.reuse == .whileRevalidating), "\(row)", sourceLocation: sourceLocation)
        }
    }

    private func record(_ cacheControl: String) -> SourceRecord {
        let head = OriginHead(
            status: 200, fields: [HeaderField(name: "cache-control", value: cacheControl)],
            contentLength: nil, requestTime: WallTime(seconds: date), responseTime: WallTime(seconds: date))
        return policy.record(
            key: CacheKey(canonicalText: "x"), keyText: "x", contentHash: ContentHash(of: [1]), byteCount: 1,
            format: .png, head: head)
    }
}
