// SPDX-License-Identifier: Apache-2.0

/// The origins that have lately sent bytes that nobody had asked for: each of their requests has a connection of its own.
///
/// Pure. Such bytes are noticed unless they come in the short time between a request and its acknowledgement; who tries
/// for that is mostly too early, and then has to wait for the next try. Bounded: the one that is trusted again first goes.
struct DistrustedOrigins {
    /// Origins that are remembered at once; a look for the one that has to go is as long.
    static let most = 1_024

    private var ends: [SourceURL.Origin: ContinuousClock.Instant] = [:]

    /// Remembers an origin until `end`.
    mutating func add(_ origin: SourceURL.Origin, until end: ContinuousClock.Instant) {
        ends[origin] = end
        guard ends.count > Self.most, let first = ends.min(by: { $0.value < $1.value }) else { return }
        ends[first.key] = nil
    }

    /// Whether an origin is distrusted; one that no longer is is forgotten.
    mutating func contains(_ origin: SourceURL.Origin, at now: ContinuousClock.Instant) -> Bool {
        guard let end = ends[origin] else { return false }
        if end <= now { ends[origin] = nil }
        return end > now
    }
}
