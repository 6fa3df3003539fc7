// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Request

@Suite("The limit of requests per client")
struct RateLimiterTests {
    private let second: Int64 = 1_000_000_000

    @Test("allows a burst, then the configured rate, and returns the time until the next request")
    func rate() throws {
        let limiter = try limiter(requests: 60, burst: 3)

        #expect((1...3).map { _ in limiter.admit("a", at: 0) } == [.admitted, .admitted, .admitted])
        #expect(limiter.admit("a", at: 0) == .refused(seconds: 1))
        #expect(limiter.admit("a", at: second - 1) == .refused(seconds: 1))
        #expect(limiter.admit("a", at: second) == .admitted)
        #expect(limiter.admit("a", at: second) == .refused(seconds: 1))
        #expect(limiter.admit("a", at: 100 * second) == .admitted)
    }

    @Test("counts each client separately, and does not count refused requests")
    func clients() throws {
        let limiter = try limiter(requests: 1, burst: 1)

        #expect(limiter.admit("a", at: 0) == .admitted)
        for time in 1...50 { #expect(limiter.admit("a", at: Int64(time) * second) != .admitted) }
        #expect(limiter.admit("b", at: 0) == .admitted)
        #expect(limiter.admit("a", at: 60 * second) == .admitted)
        #expect(limiter.admit("a", at: 60 * second) == .refused(seconds: 60))
    }

    @Test("remembers a bounded number of clients")
    func bounded() throws {
        var configuration = RateLimitConfiguration()
        configuration.requests = 1
        configuration.maxClients = 16
        let limiter = try #require(RateLimiter<Int>(configuration: configuration))

        // A client that keeps sending requests stays known, however many others come.
        var refused = 0
        for stranger in 0..<5_000 {
            if limiter.admit(-1, at: 0) != .admitted { refused += 1 }
            _ = limiter.admit(stranger, at: 0)
        }

        #expect(refused > 4_000)
    }

    @Test("is off by default")
    func off() {
        #expect(RateLimiter<Int>(configuration: RateLimitConfiguration()) == nil)
    }

    private func limiter(requests: Int, burst: Int) throws -> RateLimiter<String> {
        var configuration = RateLimitConfiguration()
        configuration.requests = requests
        configuration.burst = burst
        return try #require(RateLimiter(configuration: configuration))
    }
}
