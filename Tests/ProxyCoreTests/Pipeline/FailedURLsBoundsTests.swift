// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Cache
@testable import Pipeline
@testable import Primitives

@Suite("Times and bounds of failed URLs")
struct FailedURLsBoundsTests {
    private let now: Int64 = 1_000
    private let gone = PipelineError.upstreamNotFound(status: 404)

    @Test("A clock that is set back does not extend the time of a failure")
    func clockSetBack() {
        let failed = memory()
        for (name, time) in [("a", now), ("b", now + 60), ("c", now + 61)] {
            remember(gone, name, in: failed, at: time)
        }

        // A caller that has read the clock may be overtaken by a second.
        #expect(failed.remaining(of: key("c"), at: now + 60) == 301)
        #expect(failed.failure(of: key("b"), at: now + 30) == nil)
        #expect(failed.list(limit: 10, at: now + 30).map(\.key) == [key("a")])
        #expect(failed.remaining(of: key("a"), at: now + 30) == 270)
        #expect(failed.remaining(of: key("a"), at: now - 86_400) == nil)
        #expect(failed.counts(at: now - 86_400).isEmpty)
    }

    @Test("Only the latest failure of a key is remembered")
    func replaces() {
        let failed = memory()

        remember(gone, "a", in: failed)
        remember(.notAnImage, "a", in: failed)

        #expect(failed.failure(of: key("a"), at: now) == .notAnImage)
        #expect(failed.counts(at: now) == [.notAnImage: 1])
    }

    @Test("A failure that has no time removes an earlier one")
    func timeless() {
        var configuration = FailedURLsConfiguration()
        configuration.ttl.notFound = .seconds(0)
        let failed = memory()

        remember(gone, "a", in: failed)
        failed.adopt(configuration)
        remember(gone, "a", in: failed)
        remember(gone, "b", in: failed)

        #expect(failed.list(limit: 2, at: now).isEmpty)
    }

    @Test(
        "However many URLs fail once, a failure that is requested again and again stays, whatever its class")
    func floods() {
        let failed = memory(maxEntries: 100)
        remember(gone, "requested", in: failed)

        for number in 0..<10_000 {
            // Each of them is remembered for longer.
            remember(.notAnImage, "\(number)", in: failed)
            if number.isMultiple(of: 50) { #expect(failed.failure(of: key("requested"), at: now) == gone) }
        }

        #expect(failed.counts(at: now) == [.notFound: 1, .notAnImage: 99])
        #expect(failed.remaining(of: key("9999"), at: now) == 600, "the latest is remembered")
    }

    @Test(
        "What explains, lists and counts is no request: such a failure is evicted as if it had not been read")
    func peeks() {
        let failed = memory(maxEntries: 2)
        remember(gone, "read", in: failed)
        remember(gone, "other", in: failed)

        _ = failed.remaining(of: key("read"), at: now)
        _ = failed.list(limit: 9, at: now)
        _ = failed.counts(at: now)
        remember(gone, "third", in: failed)

        #expect(failed.remaining(of: key("read"), at: now) == nil)
        #expect(failed.hits.isEmpty)
    }

    @Test("Hits are counted by class")
    func hits() {
        let failed = memory()
        remember(.notAnImage, "a", in: failed)

        for name in ["a", "a", "b"] { _ = failed.failure(of: key(name), at: now) }

        #expect(failed.hits == [.notAnImage: 2])
    }

    @Test("What is remembered stays consistent under many failures, removals and expiries")
    func model() {
        var random = SystemRandomNumberGenerator()
        let failed = memory(maxEntries: 1_000)
        var expected: [Int: (failure: PipelineError, end: Int64)] = [:]
        let failures: [(PipelineError, Int64)] = [
            (gone, 300), (.upstreamStatus(400, retryAfter: nil), 60), (.notAnImage, 600),
        ]

        for step in 0..<5_000 {
            let time = now + Int64(step / 10)
            let name = Int.random(in: 0..<500, using: &random)
            if step % 7 == 0 {
                let isThere = (expected[name]?.end ?? 0) > time
                #expect((failed.failure(of: key("\(name)"), at: time) != nil) == isThere)
                failed.forget(key("\(name)"))
                expected[name] = nil
            } else {
                let (failure, seconds) = failures[step % 3]
                remember(failure, "\(name)", in: failed, at: time)
                expected[name] = (failure, time + seconds)
            }
        }

        let end = now + 500
        for name in 0..<500 {
            let failure = expected[name].flatMap { $0.end > end ? $0.failure : nil }
            #expect(failed.failure(of: key("\(name)"), at: end) == failure)
        }
        #expect(failed.counts(at: end).values.reduce(0, +) == expected.values.count { $0.end > end })
    }

    @Test(
        "Failures are listed with their URL, ordered by expiry, and cleared by source, prefix or altogether")
    func listing() {
        let failed = memory()
        remember(gone, "a", in: failed)
        remember(.badImageData, "a", result: "a small", in: failed)
        remember(.upstreamStatus(400, retryAfter: nil), "b", in: failed)
        remember(gone, "c", in: failed)

        let listed = failed.list(limit: 9, at: now)
        #expect(listed.map(\.failure) == [.upstreamStatus(400, retryAfter: nil), gone, gone, .badImageData])
        #expect(failed.list(limit: 1, at: now).map(\.text) == ["http://a.example/b"])
        #expect(failed.list(source: key("a"), limit: 9, at: now + 300).map(\.key) == [key("a small")])
        #expect(failed.clear(sources: [key("a")], at: now + 300) == 1)
        #expect(failed.clear(sources: [key("b")], at: now + 300) == 0)

        for name in ["b", "c", "d"] { remember(gone, name, in: failed) }
        #expect(failed.clear(prefix: "http://a.example/c", at: now) == 1)
        #expect(failed.forget(key("b")))
        #expect(!failed.forget(key("b")))
        #expect(failed.clear(at: now) == 1)
        #expect(failed.counts(at: now).isEmpty)
    }

    @Test("Jitter shortens a failure's time by a tenth at most, so that not all are retried at once")
    func jitter() {
        for (chance, seconds) in [(0, 300), (0.5, 285), (1, 270)] as [(Double, Int64)] {
            let failed = FailedURLs(configuration: FailedURLsConfiguration(), random: { chance })
            remember(gone, "a", in: failed)

            #expect(failed.remaining(of: key("a"), at: now) == seconds)
        }
    }

    @Test(
        "Failures take no more bytes than their share, however long the URLs are; the beginning of a long one is listed"
    )
    func boundsBytes() {
        let share = MemoryShare(bytes: 1 << 20)
        let failed = FailedURLs(configuration: FailedURLsConfiguration(), share: share, random: { 0 })
        let text = String(repeating: "a", count: 8_000)

        for number in 0..<10_000 {
            remember(gone, "\(number)", text: text, in: failed, at: now + Int64(number) / 100)
        }

        let listed = failed.list(limit: 10_000, at: now + 100)
        #expect(share.bytes <= 1 << 20)
        #expect(listed.count > 500)
        #expect(listed.allSatisfy { $0.text.utf8.count <= 1_024 + 3 && text.hasPrefix($0.text.dropLast()) })
        #expect(failed.failure(of: key("9999"), at: now + 100) != nil)
        #expect(failed.counts(at: now + 1_000).isEmpty)
        #expect(share.bytes == 0, "expired failures are removed when they are counted")
    }

    private func key(_ text: String) -> CacheKey { CacheKey(canonicalText: text) }

    private func memory(maxEntries: Int = 10_000) -> FailedURLs {
        var configuration = FailedURLsConfiguration()
        configuration.maxEntries = maxEntries
        return FailedURLs(configuration: configuration, random: { 0 })
    }

    private func remember(
        _ failure: PipelineError, _ source: String, result: String = "result", text: String? = nil,
        in failed: FailedURLs, at time: Int64? = nil
    ) {
        failed.remember(
            failure, source: key(source), result: key(result), text ?? "http://a.example/\(source)",
            at: time ?? now)
    }
}
