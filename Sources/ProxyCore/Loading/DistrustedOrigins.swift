// SPDX-License-Identifier: Apache-2.0

import URLs

/// The origins that have recently sent bytes without a request: each request to one has its own connection.
///
/// Pure. Such bytes are detected unless they arrive in the short time between a request and its
/// acknowledgement. An attacker is usually too early, and then has to wait for the next attempt. Bounded: a
/// full table drops the origin that would be trusted again first.
struct DistrustedOrigins {
    /// The maximum number of origins; finding the one to drop is a linear search over them.
    static let most = 1_024

    private var ends: [SourceURL.Origin: ContinuousClock.Instant] = [:]

    /// Adds an origin until `end`.
    mutating func add(_ origin: SourceURL.Origin, until end: ContinuousClock.Instant) {
        ends[origin] = end
        guard ends.count > Self.most, let first = ends.min(by: { $0.value < $1.value }) else { return }
        ends[first.key] = nil
    }

    /// Whether an origin is distrusted; removes it when its time is over.
    mutating func contains(_ origin: SourceURL.Origin, at now: ContinuousClock.Instant) -> Bool {
        guard let end = ends[origin] else { return false }
        if end <= now { ends[origin] = nil }
        return end > now
    }
}
