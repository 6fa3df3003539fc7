// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
internal import HTTPServer
import Pipeline
import Primitives
import Request

/// Refuses clients that send too many requests, by address: an IPv4 address, or the /64 of an IPv6 one, which
/// belongs to one customer.
struct ClientLimit: Sendable {
    /// `security.rateLimit`.
    let configuration: RateLimitConfiguration
    private let limiter: RateLimiter<ClientID>?

    init(_ configuration: RateLimitConfiguration) {
        self.configuration = configuration
        limiter = RateLimiter(configuration: configuration)
    }

    /// Hot path: does nothing without a limit. Clients of a unix socket that come through no proxy are not
    /// counted.
    /// - Throws: `tooManyRequests`.
    func check(_ request: HTTPRequest) throws(PipelineError) {
        guard let limiter, let client = ClientID(request.client) else { return }
        let now = SystemTime.nanoseconds(of: CLOCK_MONOTONIC_COARSE)
        guard case .refused(let seconds) = limiter.admit(client, at: now) else { return }
        throw .tooManyRequests(retryAfter: seconds)
    }
}
