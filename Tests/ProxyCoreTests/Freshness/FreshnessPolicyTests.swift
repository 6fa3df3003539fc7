// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Bodies
@testable import Freshness
@testable import Imaging
@testable import Primitives

@Suite("The freshness policy")
struct FreshnessPolicyTests: FreshnessTesting {
    // MARK: - Lifetime

    @Test("s-maxage wins over max-age, which wins over Expires (RFC 9111 §4.2.1)")
    func order() {
        let expires = ("expires", http(date + 30))

        #expect(lifetime([("cache-control", "max-age=20, s-maxage=10"), expires]) == 10)
        #expect(lifetime([("cache-control", "max-age=20"), expires]) == 20)
        #expect(lifetime([expires]) == 30)
    }

    @Test("Expires counts from Date, not from the response time (RFC 9111 §4.2.1)")
    func expires() {
        let head = head([("date", http(date)), ("expires", http(date + 60))], responseTime: date + 20)

        #expect(policy().verdict(on: head).freshnessLifetime == 60)
    }

    @Test("An Expires that is invalid, repeated or past makes the response stale at once (RFC 9111 §5.3)")
    func invalidExpires() {
        for value in ["0", "-1", "", "now", "\(http(date + 60)), x", http(date - 60), http(date)] {
            #expect(lifetime([("expires", value)]) == 0, "\(value)")
        }
        #expect(lifetime([("expires", http(date + 60)), ("expires", http(date + 60))]) == 0)
        #expect(lifetime([("expires", "0"), ("cache-control", "max-age=9")]) == 9)
    }

    @Test("A missing or invalid Date is the response time (RFC 9110 §6.6.1)")
    func missingDate() {
        for fields in [[], [("date", "yesterday")]] as [[(String, String)]] {
            let head = head(fields + [("expires", http(date + 60))], responseTime: date + 20)
            #expect(policy().verdict(on: head).freshnessLifetime == 40)
            #expect(policy().verdict(on: head).initialAge == .zero)
        }
    }

    @Test("With an invalid Last-Modified, or one after Date, the default applies")
    func noHeuristic() {
        #expect(lifetime([("last-modified", "yesterday")]) == 86_400)
        #expect(lifetime([("last-modified", http(date + 10))]) == 86_400)
        #expect(lifetime([]) == 86_400)
    }

    @Test("Lifetimes are bounded by the configuration, the default included")
    func bounds() {
        var configuration = FreshnessConfiguration()
        configuration.minimum = .seconds(60)
        configuration.maximum = .seconds(100)

        #expect(lifetime([("cache-control", "max-age=0")], configuration) == 60)
        #expect(lifetime([("cache-control", "max-age=1000")], configuration) == 100)
        #expect(lifetime([], configuration) == 100)
    }

    @Test("Where the origin's lifetimes do not count, the default applies; private and no-store still count")
    func disrespect() {
        var configuration = FreshnessConfiguration()
        configuration.respectOrigin = false
        let head = head([("cache-control", "max-age=5, no-store, private, no-cache, must-revalidate")])

        let verdict = policy(configuration).verdict(on: head)

        #expect(verdict.freshnessLifetime == 86_400)
        #expect(verdict.directives == [.noStore, .isPrivate])
    }

    // MARK: - Age

    @Test(
        "The initial age is the larger of Date's and Age's, the latter with the response delay (RFC 9111 §4.2.3)"
    )
    func initialAge() {
        let responseHead = head(
            [("date", http(date)), ("age", "100")], requestTime: date + 5, responseTime: date + 8)
        let apparent = head(
            [("date", http(date)), ("age", "1")], requestTime: date + 5, responseTime: date + 8)

        #expect(policy().verdict(on: responseHead).initialAge == .seconds(103))
        #expect(policy().verdict(on: apparent).initialAge == .seconds(8))
    }

    @Test("A second that ends while the response is received makes it no older (RFC 9111 §4.2.3)")
    func tick() {
        func age(_ fields: [(String, String)]) -> TimeSpan {
            var head = head(
                fields + [("date", http(date))], requestTime: date, responseTime: date + 1)
            head.delay = .milliseconds(60)
            return policy().verdict(on: head).initialAge
        }
        #expect(age([]) == .milliseconds(60))
        #expect(age([("age", "7")]) == .milliseconds(7_060))
    }

    @Test("A Date in the future or a missing one adds no age (RFC 9111 §4.2.3)")
    func clockSkew() {
        #expect(policy().verdict(on: head([("date", http(date + 50))])).initialAge == .zero)
        #expect(policy().verdict(on: head([])).initialAge == .zero)
    }

    @Test(
        "An invalid Age is dropped; of several the first counts (RFC 9111 §5.1)",
        arguments: [
            (["-5"], 0), (["abc"], 0), (["7.0"], 0), (["7;x=1"], 0), (["\"7\""], 0), ([""], 0), (["7, 9"], 7),
            (["7,9"], 7), (["7", "9"], 7), (["x", "9"], 0), (["007"], 7), (["2147483648"], 1 << 31),
            (["99999999999999999999"], 1 << 31),
        ] as [([String], Int)])
    func ages(values: [String], age: Int) {
        #expect(policy().verdict(on: head(values.map { ("age", $0) })).initialAge == .seconds(age))
    }

    @Test("The origin's Date is kept, however old or late the response (RFC 9110 §6.6.1, RFC 9111 §4)")
    func dateStays() {
        func made(_ fields: [(String, String)], requested: Int64 = 0) -> Int64 {
            policy().record(
                key: CacheKey(canonicalText: "x"), keyText: "x", contentHash: ContentHash(of: [1]),
                byteCount: 1,
                format: .png, head: head(fields, requestTime: date - requested)
            ).generationTime
        }
        #expect(made([("date", http(date - 5))]) == date - 5)
        #expect(made([("date", http(date)), ("age", "30")]) == date)
        #expect(made([("date", http(date + 400))]) == date + 400)
        #expect(made([("date", http(date))], requested: 4) == date)
        #expect(made([], requested: 4) == date)
        let slow = policy().record(
            key: CacheKey(canonicalText: "x"), keyText: "x", contentHash: ContentHash(of: [1]), byteCount: 1,
            format: .png, head: head([("date", http(date))], requestTime: date - 4))
        #expect(slow.currentAge(at: WallTime(seconds: date)) == 4)
        // A 304 without Date has its response time.
        let confirmed = policy().updating(slow, with: head([], status: 304, responseTime: date + 50))
        #expect(confirmed.generationTime == date + 50)
    }

    // MARK: - Directives and validators

    @Test(
        "Vary: * and fields of clients that are sent on forbid storing (RFC 9111 §4.1), another Vary does not matter"
    )
    func vary() {
        for name in ["Via", "accept, CDN-Loop", "traceparent"] {
            let verdict = policy().verdict(on: head([("vary", name)]))
            #expect(verdict.directives.forbidStoring)
            #expect(
                verdict.reuseFields.contains(HeaderField(name: "vary", value: "*")), "a 304 lifts nothing")
        }
        #expect(policy().verdict(on: head([("vary", "accept, *")])).directives.forbidStoring)
        #expect(policy().verdict(on: head([("vary", "accept")])).directives.isEmpty)
    }

    @Test("Pragma: no-cache counts only in the absence of Cache-Control (RFC 9111 §5.4)")
    func pragma() {
        #expect(directives([("pragma", "foo, No-Cache")]) == .noCache)
        #expect(directives([("pragma", "no-cache"), ("cache-control", "public")]).isEmpty)
        #expect(directives([("pragma", "foo=no-cache")]).isEmpty)
    }

    @Test("Set-Cookie does not forbid storing (RFC 9111 §7.3); the field itself is never stored")
    func setCookie() {
        let verdict = policy().verdict(on: head([("set-cookie", "a=b"), ("cache-control", "max-age=5")]))

        #expect(!verdict.directives.forbidStoring)
        #expect(verdict.freshnessLifetime == 5)
        #expect(verdict.reuseFields == [HeaderField(name: "cache-control", value: "max-age=5")])
    }

    @Test("Validators named by private or no-cache are not stored (RFC 9111 §5.2.2.4, §5.2.2.7)")
    func restrictedValidators() {
        let verdict = policy().verdict(
            on: head([
                ("cache-control", "private=\"etag\", no-cache=\"last-modified\""), ("etag", "\"a\""),
                ("last-modified", http(date)),
            ]))

        #expect(!verdict.directives.forbidStoring)
        #expect(verdict.entityTag == nil)
        #expect(verdict.lastModified == nil)
    }

    @Test("Only a lifetime from max-age, s-maxage or Expires is the origin's own (RFC 9111 §4.2.1)")
    func explicitLifetime() {
        for field in [("cache-control", "max-age=x"), ("cache-control", "s-maxage=1"), ("expires", "0")] {
            #expect(directives([field]).contains(.explicitLifetime))
        }
        for field in [("cache-control", "public"), ("last-modified", http(date - 50)), ("age", "7")] {
            #expect(!directives([field]).contains(.explicitLifetime))
        }
    }

    @Test(
        "stale-while-revalidate and stale-if-error are the origin's only where its directives count (RFC 5861)"
    )
    func staleWindows() {
        var deaf = FreshnessConfiguration()
        deaf.respectOrigin = false
        let head = head([("cache-control", "stale-while-revalidate=7, stale-if-error=8")])

        #expect(policy().verdict(on: head).staleWhileRevalidate == 7)
        #expect(policy().verdict(on: head).staleIfError == 8)
        #expect(policy(deaf).verdict(on: head).staleWhileRevalidate == nil)
        #expect(policy(deaf).verdict(on: head).staleIfError == nil)
    }

    @Test(
        "Entity tags are stored as spelled, weak ones too; an invalid one is not sent back (RFC 9110 §8.8.3)")
    func entityTags() {
        for tag in ["\"a\"", "W/\"a b\"".replacing(" ", with: "!"), "\"\""] {
            #expect(policy().verdict(on: head([("etag", tag)])).entityTag == tag)
        }
        for tag in ["a", "\"a", "w/\"a\"", "\"a\"b\"", "\"a b\"", ""] {
            #expect(policy().verdict(on: head([("etag", tag)])).entityTag == nil)
        }
    }

    @Test("Last-Modified is stored as spelled if it is a date")
    func lastModified() {
        #expect(
            policy().verdict(on: head([("last-modified", "Sun Nov  6 08:49:37 1994")])).lastModified != nil)
        #expect(policy().verdict(on: head([("last-modified", "1994")])).lastModified == nil)
    }

    @Test("Long validators count as absent: no origin decides how much memory they take")
    func longValidators() {
        let longest = "\"" + String(repeating: "a", count: 510) + "\""
        let dated = "Sun Nov  6 08:49:37 1994" + String(repeating: " ", count: 60_000)
        let fetched = policy().record(
            key: CacheKey(canonicalText: "x"), keyText: "x", contentHash: ContentHash(of: [1]), byteCount: 1,
            format: .png,
            head: head([("etag", "\"\(String(repeating: "a", count: 60_000))\""), ("last-modified", dated)]))

        #expect(policy().verdict(on: head([("etag", longest)])).entityTag == longest)
        #expect(policy().verdict(on: head([("etag", "W/" + longest)])).entityTag == nil)
        #expect(fetched.reuse.entityTag == nil && fetched.reuse.lastModified == nil)
        #expect(fetched.textBytes < 512)
    }

    // MARK: - Redirects

    @Test(
        "A redirect's directives restrict the reuse of its target",
        arguments: [
            ([], 600, false), ([("cache-control", "max-age=5")], 5, false),
            ([("cache-control", "max-age=9999")], 600, false),
            ([("cache-control", "max-age=50"), ("age", "20")], 30, false),
            ([("expires", "0")], 0, false), ([("cache-control", "no-store")], 600, true),
            ([("cache-control", "private")], 600, true), ([("vary", "*")], 600, true),
        ] as [([(String, String)], Int64, Bool)])
    func redirects(fields: [(String, String)], lifetime: Int64, forbidsStoring: Bool) {
        let final = head([("cache-control", "max-age=600")])

        let verdict = policy().verdict(on: final, after: [head([]), head(fields, status: 302)])

        #expect(verdict.freshnessLifetime == lifetime)
        #expect(verdict.directives.forbidStoring == forbidsStoring)
    }

    @Test("The stricter of redirect and picture counts")
    func redirectDirectives() {
        let final = head([("cache-control", "max-age=600, immutable")])
        let redirect = head([("cache-control", "no-cache, must-revalidate")], status: 302)

        let directives = policy().verdict(on: final, after: [redirect]).directives

        #expect(directives == [.noCache, .mustRevalidate, .explicitLifetime])
    }

    // MARK: - Revalidation

    @Test(
        "A 304 renews lifetime, directives and validators, and leaves the body's identity (RFC 9111 §4.3.4)")
    func revalidates() throws {
        let stored = try record([("cache-control", "max-age=10, no-cache"), ("etag", "W/\"b\"")])
        let head = head(
            [("cache-control", "max-age=20"), ("etag", "\"b\""), ("date", http(date + 100))], status: 304,
            responseTime: date + 101)

        let updated = policy().updating(stored, with: head)

        #expect(updated.reuse.freshnessLifetime == 20)
        #expect(updated.reuse.directives == .explicitLifetime)
        #expect(updated.reuse.entityTag == "\"b\"")
        #expect(updated.reuse.responseTime == WallTime(seconds: date + 101))
        #expect(updated.reuse.initialAge == .seconds(1))
        #expect(updated.contentHash == stored.contentHash)
        #expect(updated.isFresh(at: WallTime(seconds: date + 110)))
        #expect(!updated.isFresh(at: WallTime(seconds: date + 120)))
    }

    @Test("A 304 without freshness information keeps what was stored (RFC 9111 §3.2)")
    func keeps() throws {
        let stored = try record([("cache-control", "max-age=10, must-revalidate"), ("etag", "\"a\"")])

        let updated = policy().updating(stored, with: head([], status: 304, responseTime: date + 100))

        #expect(updated.reuse.freshnessLifetime == 10)
        #expect(updated.reuse.directives == [.mustRevalidate, .explicitLifetime])
        #expect(updated.reuse.entityTag == "\"a\"")
        #expect(updated.isFresh(at: WallTime(seconds: date + 105)))
    }

    @Test("A 304 replaces the fields that it contains, and the others stay (RFC 9111 §3.2)")
    func merges() throws {
        let stored = try record([
            ("cache-control", "max-age=10, must-revalidate, stale-if-error=9"), ("expires", http(date + 500)),
        ])

        let expires = policy().updating(stored, with: head([("expires", http(date + 900))], status: 304))
        let control = policy().updating(
            stored, with: head([("cache-control", "public"), ("date", http(date + 100))], status: 304))
        let again = policy().updating(
            control, with: head([("date", http(date + 450))], status: 304, responseTime: date + 450))

        #expect(expires.reuse.freshnessLifetime == 10)
        #expect(expires.reuse.staleIfError == 9)
        #expect(control.reuse.freshnessLifetime == 400)
        #expect(control.reuse.directives == .explicitLifetime)
        #expect(control.reuse.staleIfError == nil)
        #expect(again.reuse.freshnessLifetime == 50)
    }

    @Test("A 304 that forbids storing applies to the stored response (RFC 9111 §3.2)")
    func forbidsLate() throws {
        let stored = try record([("cache-control", "max-age=10")])
        for field in [("cache-control", "no-store"), ("cache-control", "private"), ("vary", "*")] {
            let updated = policy().updating(stored, with: head([field], status: 304))
            #expect(updated.reuse.directives.forbidStoring)
        }
    }

    @Test(
        "A 304 is accepted if its validators are the stored ones (RFC 9111 §4.3.4)",
        arguments: [
            ([], true), ([("etag", "\"a\"")], true), ([("etag", "W/\"a\"")], true),
            ([("etag", "\"b\"")], false),
            ([("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT")], true),
            ([("last-modified", "Sunday, 06-Nov-94 08:49:37 GMT")], true),
            ([("last-modified", "Sun, 06 Nov 1994 08:49:38 GMT")], false),
            ([("etag", "\"a\""), ("last-modified", "Sun, 06 Nov 1994 08:49:38 GMT")], true),
        ] as [([(String, String)], Bool)])
    func confirmation(fields: [(String, String)], isAccepted: Bool) throws {
        let stored = try record([("etag", "\"a\""), ("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT")])

        #expect(FreshnessPolicy.confirms(head(fields, status: 304), stored) == isAccepted)
    }

    // MARK: - Helpers

    private func directives(_ fields: [(String, String)]) -> SourceRecord.Directives {
        policy().verdict(on: head(fields)).directives
    }

    private func record(_ fields: [(String, String)]) throws -> SourceRecord {
        policy().record(
            key: CacheKey(canonicalText: "x"), keyText: "x", contentHash: ContentHash(of: [1]), byteCount: 1,
            format: .png,
            head: head(fields))
    }
}
