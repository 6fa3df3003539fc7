// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Cache
@testable import Pipeline
@testable import Primitives

@Suite("The failed URLs of a pipeline")
struct FailedURLsTests {
    private let memory = FailedURLs(configuration: FailedURLsConfiguration(), random: { 0 })
    private let source = CacheKey(canonicalText: "source")
    private let results = (0..<4).map { CacheKey(canonicalText: "result \($0)") }

    @Test("A permanent failure is remembered for the time of its class")
    func kept() {
        memory.remember(.upstreamNotFound(status: 404), source: source, result: results[0], at: 1_000)

        #expect(memory.failure(of: source, at: 1_299) == .upstreamNotFound(status: 404))
        #expect(memory.remaining(of: source, at: 1_290) == 10)
        #expect(memory.failure(of: source, at: 1_300) == nil)
    }

    @Test(
        "A failure that a retry may heal is not remembered",
        arguments: [
            PipelineError.upstreamConnectTimeout, .upstreamUnreachable, .upstreamIncomplete, .queueFull,
            .queueTimeout,
            .clientLeft, .upstreamStatus(500, retryAfter: nil), .upstreamStatus(429, retryAfter: nil),
            .emptyResult,
            .frameOutOfRange, .addressForbidden, .invalidURL,
        ])
    func notKept(failure: PipelineError) {
        memory.remember(failure, source: source, result: results[0], at: 0)

        #expect(memory.failure(of: source, at: 0) == nil)
        #expect(memory.failure(of: results[0], at: 0) == nil)
    }

    @Test(
        "Retry-After of a 4xx that a retry does not change is neither followed nor passed on",
        arguments: [400, 401, 403])
    func lastingStatus(status: Int) {
        #expect(PipelineError.upstreamStatus(status, retryAfter: 3).retryAfter == nil)
        #expect(PipelineError.upstreamStatus(429, retryAfter: 3).retryAfter == 3)
    }

    @Test(
        "An error with Retry-After is remembered for that time, which counts down, and at most for the setting"
    )
    func retryAfter() {
        memory.remember(.upstreamStatus(503, retryAfter: 20), source: source, result: results[0], at: 100)
        memory.remember(
            .upstreamStatus(429, retryAfter: 86_400), source: results[1], result: results[0], atMost: 0,
            at: 100)

        #expect(memory.failure(of: source, at: 115) == .upstreamStatus(503, retryAfter: 5))
        #expect(memory.failure(of: source, at: 120) == nil)
        #expect(memory.failure(of: results[1], at: 100) == .upstreamStatus(429, retryAfter: 60))
        #expect(memory.failure(of: results[1], at: 160) == nil)
    }

    @Test("Retry-After is ignored if the setting is zero")
    func disobedient() {
        var configuration = FailedURLsConfiguration()
        configuration.maxRetryAfter = .seconds(0)
        memory.adopt(configuration)

        memory.remember(.upstreamStatus(503, retryAfter: 20), source: source, result: results[0], at: 0)

        #expect(memory.failure(of: source, at: 0) == nil)
    }

    @Test("Changed settings apply to later failures, lower the number, and leave remembered ones their time")
    func adopts() {
        var configuration = FailedURLsConfiguration()
        configuration.maxEntries = 2
        configuration.ttl.notFound = .hours(1)
        let sources = (0..<4).map { CacheKey(canonicalText: "source \($0)") }
        for (place, source) in sources.prefix(3).enumerated() {
            memory.remember(
                .upstreamNotFound(status: 404), source: source, result: results[0], at: Int64(place))
        }

        memory.adopt(configuration)

        #expect(memory.failure(of: sources[0], at: 3) == nil)
        #expect(sources[1...2].map { memory.remaining(of: $0, at: 3) } == [298, 299])
        memory.remember(.upstreamNotFound(status: 404), source: sources[3], result: results[0], at: 3)
        #expect(memory.remaining(of: sources[3], at: 3) == 3_600)
        #expect(memory.counts(at: 3).values.reduce(0, +) == 2)
    }

    @Test(
        "A failure that the plan may have caused is remembered for the result alone, however many results fail",
        arguments: [PipelineError.transformTimeout, .decoderCrashed, .badImageData, .outOfMemory])
    func failedResults(failure: PipelineError) {
        for result in results { memory.remember(failure, source: source, result: result, at: 0) }

        #expect(results.map { memory.failure(of: $0, at: 0) } == results.map { _ in failure })
        #expect(memory.failure(of: source, at: 0) == nil)
    }

    @Test("A source whose own decoding has failed is refused, too, as long as a bad image is remembered")
    func verifiedSources() {
        #expect(memory.beginVerification(of: source, at: 0))
        #expect(!memory.beginVerification(of: source, at: 0), "one at a time")

        memory.endVerification(of: source, "", .failed(.decoderCrashed), at: 0)

        #expect(memory.failure(of: source, at: 0) == .decoderCrashed)
        #expect(!memory.beginVerification(of: source, at: 0))
        #expect(memory.failure(of: source, at: 600) == nil)
        #expect(memory.beginVerification(of: source, at: 600))
    }

    @Test(
        "A source that decoded is not checked again for that time, one without a verdict is"
    )
    func soundSources() {
        #expect(memory.beginVerification(of: source, at: 0))
        memory.endVerification(of: source, "", .unknown, at: 0)
        #expect(memory.beginVerification(of: source, at: 0))

        memory.endVerification(of: source, "", .sound, at: 0)

        #expect(memory.failure(of: source, at: 0) == nil)
        #expect(!memory.beginVerification(of: source, at: 599))
        #expect(memory.beginVerification(of: source, at: 600))
    }

    @Test("Few sources are checked at once, and a bounded number of those that decoded is remembered")
    func boundedVerifications() {
        var verifications = SourceLimiter(limit: 8, capacity: 2)
        let sources = (0..<20).map { CacheKey(canonicalText: "source \($0)") }

        let begun = sources.filter { verifications.begin($0, at: 0) }
        for source in begun { verifications.end(source, pausedFor: 10, at: 0) }
        let again = begun.filter { verifications.begin($0, at: 0) }

        #expect(begun == Array(sources.prefix(8)))
        #expect(again == Array(begun.dropLast(2)))
    }

    @Test("A key that has succeeded is removed")
    func forgetting() {
        memory.remember(.notAnImage, source: source, result: results[0], at: 0)
        memory.forget(source)

        #expect(memory.failure(of: source, at: 0) == nil)
    }

    @Test("Clearing a source clears its results, and that it decoded")
    func clearing() {
        for result in results.prefix(2) {
            memory.remember(.transformTimeout, source: source, result: result, at: 0)
        }

        #expect(memory.beginVerification(of: source, at: 0))
        memory.endVerification(of: source, "", .sound, at: 0)

        #expect(memory.clear(sources: [source], at: 0) == 2)
        #expect(memory.beginVerification(of: source, at: 0))
        memory.remember(.transformTimeout, source: source, result: results[2], at: 0)

        #expect(memory.failure(of: results[0], at: 0) == nil)
        #expect(memory.failure(of: source, at: 0) == nil)
        #expect(memory.clear(at: 0) == 1)
    }
}
