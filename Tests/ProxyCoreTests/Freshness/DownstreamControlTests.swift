// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Bodies
@testable import Freshness
@testable import Imaging
@testable import Primitives

@Suite("Cache-Control for browsers and downstream caches")
struct DownstreamControlTests {
    /// When the responses of these tests were generated.
    private let date: Int64 = 1_795_219_200

    @Test(
        "Each directive of the origin is passed on as it applies to downstream",
        arguments: [
            ("s-maxage=600, max-age=60", "public, max-age=60, s-maxage=600"),
            ("s-maxage=60, max-age=600", "public, max-age=600, s-maxage=60"),
            ("s-maxage=600", "public, max-age=600, s-maxage=600"),
            ("s-maxage=600, max-age=60, private", "private, max-age=60"),
            ("s-maxage=600, proxy-revalidate, max-age=60", "public, max-age=60, s-maxage=600"),
            (
                "max-age=60, stale-while-revalidate=30, stale-if-error=90",
                "public, max-age=60, stale-while-revalidate=30, stale-if-error=90"
            ),
            ("max-age=60, immutable", "public, max-age=60, immutable"),
            ("public, max-age=60", "public, max-age=60"),
            ("max-age=60, no-transform", "public, max-age=60, no-transform"),
            ("max-age=60, must-revalidate", "public, max-age=60, must-revalidate"),
            ("max-age=60, proxy-revalidate", "public, max-age=60, proxy-revalidate"),
            ("no-store", "no-store"), ("no-store, max-age=60, immutable", "no-store"),
            ("private, no-store", "no-store, private"),
            ("no-store, no-cache, must-revalidate", "no-store, no-cache, must-revalidate"),
            ("no-cache", "public, no-cache"), ("no-cache, max-age=60", "public, no-cache, max-age=60"),
            ("private, max-age=60", "private, max-age=60"),
            (
                "must-understand, no-store, max-age=60",
                "public, must-understand, no-store, max-age=60"
            ),
            ("must-understand, max-age=60", "public, max-age=60"),
            ("x-unknown, max-age=60", "public, max-age=60"),
        ])
    func directives(received: String, sent: String) {
        #expect(text(record(received)) == sent)
    }

    @Test("The directives are known after a 304")
    func survives() {
        let stored = record(
            "s-maxage=600, max-age=60, stale-if-error=9, no-transform, must-understand, no-store")
        let sent =
            "public, must-understand, no-store, max-age=60, s-maxage=600, no-transform, stale-if-error=9"

        let confirmed = policy().updating(stored, with: head([], status: 304))

        #expect(text(confirmed) == sent)
    }

    @Test("An operator's lifetime replaces each of them, and bounds limit each")
    func rules() throws {
        var (overridden, bounded) = (
            record("s-maxage=600, max-age=60, immutable"), record("s-maxage=600, max-age=60")
        )
        var targeted = record("max-age=60", more: [("cdn-cache-control", "max-age=600")])

        overridden.overrideLifetimes(with: 7_200)
        bounded.boundLifetimes { min($0, 30) }
        targeted.boundLifetimes { max($0, 90) }

        #expect(text(overridden) == "public, max-age=7200")
        #expect(text(bounded) == "public, max-age=30, s-maxage=30")
        #expect(text(targeted) == "public, max-age=90" && targeted.reuse.freshnessLifetime == 600)
    }

    @Test("A redirect's lifetimes for browsers and for shared caches each bound that of its target")
    func redirects() {
        let redirect = head([("cache-control", "max-age=10, s-maxage=100")], status: 302)
        let behind = policy().record(
            key: CacheKey(canonicalText: "x"), keyText: "x", contentHash: ContentHash(of: [1]), byteCount: 1,
            format: .png, head: head([("cache-control", "max-age=600")]), after: [redirect])

        #expect(text(behind) == "public, max-age=10, s-maxage=100")
    }

    @Test("Where the origin's directives do not count, the default is sent")
    func disrespect() {
        var deaf = FreshnessConfiguration()
        deaf.respectOrigin = false

        #expect(text(record("s-maxage=600, max-age=60, no-transform", deaf)) == "public, max-age=86400")
    }

    @Test(
        "A targeted field leaves all that Cache-Control says to downstream, stale windows and browsers included"
    )
    func targeted() {
        let record = record(
            "s-maxage=60, max-age=5, stale-if-error=7", more: [("cdn-cache-control", "max-age=600")])

        #expect(text(record) == "public, max-age=5, s-maxage=60, stale-if-error=7")
        #expect(record.reuse.freshnessLifetime == 600)
    }

    // MARK: - Helpers

    private func text(_ record: SourceRecord) -> String {
        var value: [UInt8] = []
        record.downstream.append(to: &value)
        return String(decoding: value, as: UTF8.self)
    }

    private func policy(_ configuration: FreshnessConfiguration = FreshnessConfiguration()) -> FreshnessPolicy
    {
        FreshnessPolicy(configuration: configuration)
    }

    private func head(_ fields: [(String, String)], status: Int = 200) -> OriginHead {
        OriginHead(
            status: status, fields: fields.map { HeaderField(name: $0.0, value: $0.1) },
            contentLength: nil, requestTime: WallTime(seconds: date), responseTime: WallTime(seconds: date))
    }

    private func record(
        _ control: String, _ configuration: FreshnessConfiguration = FreshnessConfiguration(),
        more: [(String, String)] = []
    ) -> SourceRecord {
        policy(configuration).record(
            key: CacheKey(canonicalText: "x"), keyText: "x", contentHash: ContentHash(of: [1]), byteCount: 1,
            format: .png, head: head([("cache-control", control)] + more))
    }
}
