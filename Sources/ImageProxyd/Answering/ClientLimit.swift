// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
package import HTTPServer
package import Pipeline
import Primitives
package import Request

/// Refuses clients that send too many requests, by address: an IPv4 address, or the /64 of an IPv6 one, which
/// belongs to one customer.
package struct ClientLimit: Sendable {
    /// `security.rateLimit`.
    package let configuration: RateLimitConfiguration
    private let limiter: RateLimiter<ClientID>?

    package init(_ configuration: RateLimitConfiguration) {
        self.configuration = configuration
        limiter = RateLimiter(configuration: configuration)
    }

    /// Hot path: does nothing without a limit. Clients of a unix socket that come through no proxy are not
    /// counted.
    /// - Throws: `tooManyRequests`.
    package func check(_ request: HTTPRequest) throws(PipelineError) {
        guard let limiter, let client = ClientID(request.client) else { return }
        let now = SystemTime.nanoseconds(of: CLOCK_MONOTONIC_COARSE)
        guard case .refused(let seconds) = limiter.admit(client, at: now) else { return }
        throw .tooManyRequests(retryAfter: seconds)
    }
}
