// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Cache
@testable import Primitives

@Suite("The blacklist of failed URLs")
struct FailedURLCacheTests {
    private let now: Int64 = 1_000

    @Test("A failure is remembered as long as its class says, and the remaining time is known")
    func remembers() throws {
        let failed = FailedURLCache<String>(configuration: FailedURLsConfiguration(), random: { 0 })

        failed.remember(key("a"), "gone", as: .notFound, at: now)

        let remembered = try #require(failed.lookup(key("a"), at: now + 100))
        #expect(remembered.failure == "gone")
        #expect(remembered.failureClass == .notFound)
        #expect(remembered.end == now + 300)
        #expect(failed.lookup(key("a"), at: now + 299) != nil)
        #expect(failed.lookup(key("a"), at: now + 300) == nil)
        #expect(failed.lookup(key("b"), at: now) == nil)
    }

    @Test("A clock that is set back does not extend the time of a failure")
    func clockSetBack() {
        let failed = FailedURLCache<String>(configuration: FailedURLsConfiguration(), random: { 0 })
        failed.remember(key("a"), "gone", as: .notFound, at: now)
        failed.remember(key("b"), "gone", as: .notFound, at: now + 60)
        failed.remember(key("c"), "gone", as: .notFound, at: now + 61)

        #expect(failed.lookup(key("c"), at: now + 60)?.end == now + 361)
        #expect(failed.lookup(key("b"), at: now + 30) == nil)
        #expect(failed.list(limit: 10, at: now + 30).map(\.key) == [key("a")])
        #expect(failed.lookup(key("a"), at: now + 30)?.end == now + 300)
        #expect(failed.remaining(of: key("a"), at: now - 86_400) == nil)
        #expect(failed.counts(at: now - 86_400).isEmpty)
    }

    @Test("Only the latest failure of a key is remembered")
    func replaces() {
        let failed = FailedURLCache<String>(configuration: FailedURLsConfiguration(), random: { 0 })

        failed.remember(key("a"), "first", as: .badImage, at: now)
        failed.remember(key("a"), "second", as: .clientError, at: now)

        #expect(failed.lookup(key("a"), at: now)?.failure == "second")
        #expect(failed.counts(at: now) == [.clientError: 1])
    }

    @Test("A full table evicts the failure that expires first")
    func bounded() {
        let failed = FailedURLCache<String>(configuration: configuration(maxEntries: 2), random: { 0 })

        failed.remember(key("long"), "", as: .badImage, at: now)
        failed.remember(key("short"), "", as: .connection, at: now)
        failed.remember(key("middle"), "", as: .notFound, at: now)

        #expect(failed.lookup(key("short"), at: now) == nil)
        #expect(failed.lookup(key("middle"), at: now) != nil)
        #expect(failed.lookup(key("long"), at: now) != nil)
    }

    @Test("A full table does not evict a longer failure for a shorter one")
    func keepsLonger() {
        let failed = FailedURLCache<String>(configuration: configuration(maxEntries: 1), random: { 0 })

        failed.remember(key("long"), "", as: .badImage, at: now)
        failed.remember(key("short"), "", as: .connection, at: now)

        #expect(failed.lookup(key("long"), at: now) != nil)
        #expect(failed.lookup(key("short"), at: now) == nil)
    }

    @Test("A full table removes expired failures before it evicts others")
    func expires() {
        let failed = FailedURLCache<String>(configuration: configuration(maxEntries: 2), random: { 0 })

        failed.remember(key("over"), "", as: .connection, at: now)
        failed.remember(key("long"), "", as: .badImage, at: now)
        failed.remember(key("new"), "", as: .connection, at: now + 60)

        #expect(failed.counts(at: now + 60) == [.badImage: 1, .connection: 1])
    }

    @Test("A class without capacity or time remembers nothing")
    func off() {
        var timeless = FailedURLsConfiguration()
        timeless.ttl.notFound = .seconds(0)

        for configuration in [configuration(maxEntries: 0), timeless] {
            let failed = FailedURLCache<String>(configuration: configuration, random: { 0 })
            failed.remember(key("a"), "", as: .notFound, at: now)
            #expect(failed.lookup(key("a"), at: now) == nil)
        }
    }

    @Test("One key or all keys can be cleared")
    func forgets() {
        let failed = FailedURLCache<String>(configuration: FailedURLsConfiguration(), random: { 0 })
        for name in ["a", "b", "c"] { failed.remember(key(name), name, as: .notFound, at: now) }

        #expect(failed.forget(key("a")))
        #expect(!failed.forget(key("a")))
        #expect(failed.lookup(key("a"), at: now) == nil)
        #expect(failed.forgetAll() == 2)
        #expect(failed.counts(at: now).isEmpty)
    }

    @Test("Hits are counted by class")
    func hits() {
        let failed = FailedURLCache<String>(configuration: FailedURLsConfiguration(), random: { 0 })
        failed.remember(key("a"), "", as: .notAnImage, at: now)

        _ = failed.lookup(key("a"), at: now)
        _ = failed.lookup(key("a"), at: now)
        _ = failed.lookup(key("b"), at: now)

        #expect(failed.hits == [.notAnImage: 2])
    }

    @Test("The table stays consistent under many insertions, removals and expiries")
    func model() {
        var random = SystemRandomNumberGenerator()
        let failed = FailedURLCache<Int>(configuration: configuration(maxEntries: 1_000), random: { 0 })
        var expected: [Int: (value: Int, end: Int64)] = [:]
        let classes: [(FailureClass, Int64)] = [(.notFound, 300), (.clientError, 60), (.badImage, 600)]

        for step in 0..<5_000 {
            let time = now + Int64(step / 10)
            let name = Int.random(in: 0..<500, using: &random)
            let (failureClass, seconds) = classes[name % 3]
            if step % 7 == 0 {
                let isThere = (expected[name]?.end ?? 0) > time
                #expect((failed.lookup(key("\(name)"), at: time) != nil) == isThere)
                failed.forget(key("\(name)"))
                expected[name] = nil
            } else {
                failed.remember(key("\(name)"), step, as: failureClass, at: time)
                expected[name] = (step, time + seconds)
            }
        }

        let end = now + 500
        for name in 0..<500 {
            let value = expected[name].flatMap { $0.end > end ? $0.value : nil }
            #expect(failed.lookup(key("\(name)"), at: end)?.failure == value)
        }
        #expect(failed.counts(at: end).values.reduce(0, +) == expected.values.count { $0.end > end })
    }

    @Test("Failures are listed with their URL, ordered by expiry, and cleared by source with its results")
    func listing() {
        let failed = FailedURLCache<String>(configuration: FailedURLsConfiguration(), random: { 0 })
        failed.remember(key("a"), "gone", as: .notFound, ofSource: key("a"), "http://a/", at: now)
        failed.remember(key("a small"), "slow", as: .badImage, ofSource: key("a"), "http://a/", at: now)
        failed.remember(key("b"), "no", as: .clientError, ofSource: key("b"), "http://b/", at: now)

        #expect(failed.list(limit: 9, at: now).map(\.failure) == ["no", "gone", "slow"])
        #expect(failed.list(limit: 1, at: now).map(\.text) == ["http://b/"])
        #expect(failed.list(source: key("a"), limit: 9, at: now + 300).map(\.key) == [key("a small")])
        #expect(failed.hits.isEmpty)
        // Listing has removed the expired ones by then.
        #expect(failed.forgetAll(ofSource: key("a")) == 1)
        #expect(failed.forgetAll(ofSource: key("b")) == 0)
    }

    @Test("Jitter shortens a failure's time by a tenth at most, so that not all are retried at once")
    func jitter() {
        for (chance, seconds) in [(0, 300), (0.5, 285), (1, 270)] as [(Double, Int64)] {
            let failed = FailedURLCache<String>(configuration: FailedURLsConfiguration(), random: { chance })
            failed.remember(key("a"), "", as: .notFound, at: now)

            #expect(failed.lookup(key("a"), at: now)?.end == now + seconds)
        }
    }

    private func key(_ text: String) -> CacheKey { CacheKey(canonicalText: text) }

    private func configuration(maxEntries: Int) -> FailedURLsConfiguration {
        var configuration = FailedURLsConfiguration()
        configuration.maxEntries = maxEntries
        return configuration
    }

    @Test(
        "The table takes no more bytes than its share, however long the URLs are, and lists how a long one begins"
    )
    func boundsBytes() {
        let share = MemoryShare(bytes: 1 << 20)
        let failed = FailedURLCache<String>(
            configuration: FailedURLsConfiguration(), share: share, random: { 0 })
        let text = "http://a.example/" + String(repeating: "a", count: 8_000)

        for number in 0..<10_000 {
            failed.remember(key("\(number)"), "gone", as: .notFound, text, at: now + Int64(number) / 100)
        }

        let listed = failed.list(limit: 10_000, at: now + 100)
        #expect(share.bytes <= 1 << 20)
        #expect(listed.count > 500)
        #expect(listed.allSatisfy { $0.text.utf8.count <= 1_024 + 3 && text.hasPrefix($0.text.dropLast()) })
        #expect(failed.lookup(key("9999"), at: now + 100) != nil)
        failed.forgetAll()
        #expect(share.bytes == 0)
    }
}
