// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
internal import HTTPServer
internal import ProxyCore

/// Refuses clients that ask too often, by address: an IPv4 address, or the /64 of an IPv6 one, which is one customer's.
struct ClientLimit: Sendable {
    private let limiter: RateLimiter<PeerAddress>?

    /// - Parameter configuration: `security.rateLimit`.
    init(_ configuration: RateLimitConfiguration) {
        limiter = RateLimiter(configuration: configuration)
    }

    /// Hot path: nothing where there is no limit. Who comes by a unix socket, and is nobody's proxy, is not counted.
    /// - Throws: `tooManyRequests`.
    func check(_ request: HTTPRequest) throws(PipelineError) {
        guard let limiter, let client = Self.client(request.client) else { return }
        guard case .refused(let seconds) = limiter.admit(client, at: Self.now) else { return }
        throw .tooManyRequests(retryAfter: seconds)
    }

    private static func client(_ address: PeerAddress) -> PeerAddress? {
        switch address {
        case .unix: nil
        case .v4: address
        // An IPv4 client of a socket for both families.
        case .v6(0, let low) where low >> 32 == 0xFFFF: .v4(UInt32(truncatingIfNeeded: low))
        case .v6(let high, _): .v6(high, 0)
        }
    }

    private static var now: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
