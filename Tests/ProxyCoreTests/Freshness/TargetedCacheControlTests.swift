// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Bodies
@testable import Freshness
@testable import Imaging
@testable import Primitives

@Suite("Targeted cache control")
struct TargetedCacheControlTests {
    private let date: Int64 = 1_795_219_200

    private func policy(_ targets: [String] = ["CDN-Cache-Control"]) -> FreshnessPolicy {
        var configuration = FreshnessConfiguration()
        configuration.targets = targets
        return FreshnessPolicy(configuration: configuration)
    }

    private func head(_ fields: [(String, String)], status: Int = 200) -> OriginHead {
        let dated = fields + [("date", HTTPDate(seconds: date).description)]
        return OriginHead(
            status: status, fields: dated.map { HeaderField(name: $0.0, value: $0.1) },
            contentLength: nil, requestTime: WallTime(seconds: date), responseTime: WallTime(seconds: date))
    }

    private func record(_ fields: [(String, String)]) -> SourceRecord {
        policy().record(
            key: CacheKey(canonicalText: "x"), keyText: "x", contentHash: ContentHash(of: [1]), byteCount: 1,
            format: .png, head: head(fields))
    }

    @Test("A targeted field replaces Cache-Control and Expires, whatever those say (RFC 9213 §2.2)")
    func precedence() {
        let expires = ("expires", HTTPDate(seconds: date - 100).description)
        for other in ["max-age=1", "no-store", "private", "no-cache", "max-age=99999"] {
            let verdict = policy().verdict(
                on: head([("cache-control", other), ("cdn-cache-control", "max-age=600"), expires]))
            #expect(verdict.freshnessLifetime == 600, "\(other)")
            #expect(verdict.directives == .explicitLifetime, "\(other)")
        }
        let pragma = policy().verdict(
            on: head([("pragma", "no-cache"), ("cdn-cache-control", "max-age=600")]))
        #expect(pragma.directives == .explicitLifetime)
    }

    @Test(
        "Its members are directives of Cache-Control, as a dictionary (RFC 9213 §2.1)",
        arguments: [
            ("no-store", .noStore), ("private", .isPrivate), ("no-cache", .noCache),
            ("no-store=?1", .noStore),
            ("no-store=?0", []), ("must-revalidate;x=1", .mustRevalidate), ("foo=bar, (a b);q", []),
            ("no-cache=\"set-cookie\"", []), ("immutable, x=1.5, y=:aGk=:", .immutable),
        ] as [(String, SourceRecord.Directives)])
    func directives(value: String, directives: SourceRecord.Directives) {
        let value = value.replacing("(a b);q", with: "list=(a b);q")
        let verdict = policy().verdict(
            on: head([("cache-control", "max-age=1"), ("cdn-cache-control", value)]))

        #expect(verdict.directives == directives)
        // There is no lifetime, and Cache-Control does not count.
        #expect(verdict.freshnessLifetime == 86_400)
    }

    @Test(
        "A field that is empty, malformed, or has a value of the wrong type counts as absent (RFC 9213 §2.1)",
        arguments: [
            "", " ", "max-age=10000, &&&&&", "max-age=\"10000\"", "max-age =100", "max-age= 100",
            "MaX-aGe=100",
            "max-age=100,", ",max-age=100", "max-age=-1", "max-age=1.5", "max-age", "no-store=1",
            "no-cache=5",
            "private=\"a\\\"b\"", "max-age=1000000000000000", "max-age=\"", "no-store=?2", "a=(1", "é",
        ])
    func invalid(value: String) {
        let verdict = policy().verdict(
            on: head([("cache-control", "max-age=7, immutable"), ("cdn-cache-control", value)]))

        #expect(verdict.freshnessLifetime == 7)
        #expect(verdict.directives == [.explicitLifetime, .immutable])
        #expect(verdict.untargeted == nil && verdict.reuseFields.map(\.name) == ["cache-control"])
    }

    @Test("The first present and valid field of the list counts (RFC 9213 §2.2)")
    func order() {
        let fields = [("cdn-cache-control", "max-age=20"), ("a-cache-control", "max-age=10")]

        #expect(
            policy(["A-Cache-Control", "CDN-Cache-Control"]).verdict(on: head(fields)).freshnessLifetime == 10
        )
        #expect(
            policy(["CDN-Cache-Control", "A-Cache-Control"]).verdict(on: head(fields)).freshnessLifetime == 20
        )
        let broken = [("cdn-cache-control", "max-age=20"), ("a-cache-control", "!")]
        #expect(
            policy(["A-Cache-Control", "CDN-Cache-Control"]).verdict(on: head(broken)).freshnessLifetime == 20
        )
        #expect(policy([]).verdict(on: head(fields)).freshnessLifetime == 86_400)
    }

    @Test("Several lines are one dictionary, in which the last of two values counts (RFC 9651 §3.2)")
    func lines() {
        let fields = [("cdn-cache-control", "max-age=20, immutable"), ("cdn-cache-control", "max-age=30")]
        let verdict = policy().verdict(on: head(fields))

        #expect(verdict.freshnessLifetime == 30 && verdict.directives.contains(.immutable))
    }

    @Test("A targeted field does not affect downstream: clients get what Cache-Control says (RFC 9213 §2.2)")
    func downstream() {
        let stored = record([("cache-control", "no-store"), ("cdn-cache-control", "max-age=600")])
        #expect(!stored.reuse.directives.forbidStoring && stored.isFresh(at: WallTime(seconds: date + 599)))
        #expect(stored.downstream.directives == .noStore)

        let short = record([("cache-control", "max-age=5, immutable"), ("cdn-cache-control", "max-age=600")])
        #expect(short.downstream.lifetime == 5)
        #expect(short.downstream.directives == [.explicitLifetime, .immutable])

        let plain = record([("cache-control", "max-age=5")])
        #expect(plain.downstream.lifetime == 5 && plain.downstream.directives == .explicitLifetime)
    }

    @Test(
        "A targeted field does not make a private response public downstream, nor lift a redirect's restrictions"
    )
    func withheld() {
        let fields = [("cache-control", "max-age=3600"), ("cdn-cache-control", "no-store")]
        var own = record(fields)
        own.reuse.directives.insert(.isPrivate)
        #expect(own.downstream.directives.contains(.isPrivate))

        let behind = policy().record(
            key: CacheKey(canonicalText: "x"), keyText: "x", contentHash: ContentHash(of: [1]), byteCount: 1,
            format: .png,
            head: head([("cache-control", "max-age=3600"), ("cdn-cache-control", "max-age=60")]),
            after: [head([("cache-control", "private, no-store")], status: 302)])
        #expect(behind.downstream.directives.isSuperset(of: [.isPrivate, .noStore]))
    }

    @Test("The number of members is bounded, and a repeated key has its last value in its first place")
    func members() throws {
        let many = (0..<1_024).map { "k\($0)" }
        let whole = try #require(StructuredDictionary([(many + ["k0=5"]).joined(separator: ", ")]))
        #expect(whole.members.count == 1_024 && whole.members[0].value == .integer(5))
        #expect(StructuredDictionary([(many + ["more"]).joined(separator: ", ")]) == nil)
    }

    @Test(
        "A targeted field stays in force after a 304 without it, and is replaced by a 304 with another (RFC 9111 §3.2)"
    )
    func revalidated() {
        let stored = record([("cache-control", "max-age=5"), ("cdn-cache-control", "max-age=600")])

        let same = policy().updating(stored, with: head([("cache-control", "max-age=9")], status: 304))
        let other = policy().updating(stored, with: head([("cdn-cache-control", "max-age=700")], status: 304))

        #expect(same.reuse.freshnessLifetime == 600 && same.downstream.lifetime == 9)
        #expect(other.reuse.freshnessLifetime == 700 && other.downstream.lifetime == 5)
        #expect(
            policy().updating(same, with: head([], status: 304)).reuse.reuseFields == same.reuse.reuseFields)
    }

    @Test("A redirect's targeted field limits its target, in place of the redirect's Cache-Control")
    func redirects() {
        let redirect = head(
            [("cache-control", "max-age=1"), ("cdn-cache-control", "max-age=50")], status: 302)
        let verdict = policy().verdict(on: head([("cache-control", "max-age=100")]), after: [redirect])

        #expect(verdict.freshnessLifetime == 50)
    }

    @Test("A field longer than the storage limit counts as absent")
    func long() {
        let names = String(repeating: "x-name, ", count: 8_000)
        let record = record([
            ("cache-control", "max-age=60"), ("cdn-cache-control", "max-age=600, private=\"\(names)x\""),
        ])

        #expect(record.reuse.freshnessLifetime == 60)
        #expect(record.textBytes < 512)
    }
}
