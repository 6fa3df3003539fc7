// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Bodies
@testable import Freshness
@testable import Imaging
@testable import Primitives

@Suite("An operator's lifetimes for browsers and for caches in front")
struct OperatorLifetimeTests {
    private static let age: Int64 = 50

    private func control(_ received: String) -> DownstreamControl {
        let date: Int64 = 1_795_219_200
        let head = OriginHead(
            status: 200, fields: [HeaderField(name: "cache-control", value: received)], contentLength: nil,
            requestTime: WallTime(seconds: date), responseTime: WallTime(seconds: date))
        return FreshnessPolicy(configuration: FreshnessConfiguration()).record(
            key: CacheKey(canonicalText: "x"), keyText: "x", contentHash: ContentHash(of: [1]), byteCount: 1,
            format: .png, head: head
        ).downstream
    }

    private func settings(browsers: Int = 0, shared: Int = 0) -> DownstreamConfiguration {
        var settings = DownstreamConfiguration()
        settings.browserMaxAge = .seconds(browsers)
        settings.sharedMaxAge = .seconds(shared)
        return settings
    }

    private func text(_ write: (inout [UInt8]) -> Void) -> String {
        var value: [UInt8] = []
        write(&value)
        return String(decoding: value, as: UTF8.self)
    }

    @Test(
        "Both count from the answer, so that its age is added; browsers get no more than the origin permits",
        arguments: [
            // What the origin says, browserMaxAge, sharedMaxAge, what an answer of 50 seconds says.
            ("max-age=600", 0, 0, "public, max-age=600"),
            ("max-age=600", 60, 0, "public, max-age=110, s-maxage=600"),
            ("max-age=600", 6_000, 0, "public, max-age=600"),
            ("max-age=600", 0, 3_600, "public, max-age=600, s-maxage=3650"),
            ("max-age=600", 60, 3_600, "public, max-age=110, s-maxage=3650"),
            ("max-age=600", 0, 10, "public, max-age=600, s-maxage=60"),
            ("max-age=60, s-maxage=600", 5, 0, "public, max-age=55, s-maxage=600"),
            ("max-age=600, immutable", 60, 0, "public, max-age=110, s-maxage=600, immutable"),
            ("private, max-age=600", 60, 3_600, "private, max-age=110"),
            // Browsers reuse what is stale, too, for no longer.
            ("max-age=600, stale-while-revalidate=900", 60, 0, "public, max-age=110, s-maxage=600"),
            (
                "max-age=80, stale-while-revalidate=900", 60, 0,
                "public, max-age=80, stale-while-revalidate=30"
            ),
            ("max-age=80, stale-while-revalidate=9", 60, 0, "public, max-age=80, stale-while-revalidate=9"),
            ("no-store", 60, 3_600, "no-store"),
            ("no-cache", 60, 3_600, "public, no-cache"),
            // Stale already.
            ("max-age=40", 60, 3_600, "public, max-age=40"),
            (
                "max-age=40, stale-while-revalidate=900", 60, 3_600,
                "public, max-age=40, stale-while-revalidate=70"
            ),
        ])
    func lifetimes(received: String, browsers: Int, shared: Int, sent: String) {
        let bounded = control(received).bounded(
            by: settings(browsers: browsers, shared: shared), age: Self.age)

        #expect(text { bounded.append(to: &$0) } == sent)
    }

    @Test(
        "CDN-Cache-Control says all that concerns its cache, since it replaces Cache-Control there (RFC 9213 §2.2)",
        arguments: [
            ("max-age=60, s-maxage=600", "max-age=600, proxy-revalidate"),
            (
                "max-age=60, stale-while-revalidate=30, stale-if-error=90",
                "max-age=60, stale-while-revalidate=30, stale-if-error=90"
            ),
            ("max-age=60, must-revalidate, no-transform", "max-age=60, must-revalidate, no-transform"),
            ("private, max-age=60", "private"), ("no-store, max-age=60", "no-store"),
            ("no-cache", "no-cache"), ("no-cache, max-age=60", "no-cache, max-age=60"),
            ("must-understand, no-store, max-age=60", "must-understand, no-store, max-age=60"),
        ])
    func targeted(received: String, sent: String) throws {
        let value = text { control(received).appendTargeted(to: &$0) }

        #expect(value == sent)
        // A next daemon reads it.
        #expect(try #require(StructuredDictionary([value])).members.isEmpty == false)
    }

    @Test(
        "Surrogate-Control knows a lifetime, stale windows and no-store",
        arguments: [
            ("max-age=60, s-maxage=600", "max-age=600"),
            ("max-age=60, stale-while-revalidate=30", "max-age=60, stale-while-revalidate=30"),
            ("private, max-age=60", "no-store"), ("no-store", "no-store"), ("no-cache", "max-age=0"),
        ])
    func surrogate(received: String, sent: String) {
        #expect(text { control(received).appendSurrogate(to: &$0) } == sent)
    }

    @Test(
        "X-Accel-Expires counts from now, and is 0 for what may not be stored",
        arguments: [
            ("max-age=60", 10 as Int64), ("max-age=40", 0), ("private, max-age=60", 0), ("no-store", 0),
        ])
    func accelExpires(received: String, seconds: Int64) {
        #expect(control(received).secondsLeft(atAge: Self.age) == seconds)
    }

    @Test("Without s-maxage in Cache-Control, what it implies is said by itself (RFC 9111 §5.2.2.10)")
    func withoutSharedMaxAge() {
        let control = control("max-age=60, s-maxage=600")

        #expect(
            text { control.append(to: &$0, sendsShared: false) } == "public, max-age=60, proxy-revalidate")
    }
}
