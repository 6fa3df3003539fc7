// SPDX-License-Identifier: Apache-2.0

/// How long each origin has kept one fetch, over all its hops.
///
/// Waiting for a slot, or for another try, is nobody's time.
struct HopTimes {
    /// The share of `fetch.totalTimeout` that an origin has to have used for its end to be that origin's failure. Less
    /// would let one origin use some of the time of another, and have it blamed by redirecting to it.
    private static let decisiveShare = 0.9

    private var times: [SourceURL.Origin: Duration] = [:]
    private var current: (origin: SourceURL.Origin, since: ContinuousClock.Instant)?

    /// A hop to an origin begins.
    mutating func begin(_ origin: SourceURL.Origin, at now: ContinuousClock.Instant) {
        end(at: now)
        current = (origin, now)
    }

    /// The hop has ended.
    mutating func end(at now: ContinuousClock.Instant) {
        guard let (origin, since) = current else { return }
        times[origin, default: .zero] += since.duration(to: now)
        current = nil
    }

    /// The origin that has used up nearly all of `total` by itself; nil where none has.
    func culprit(of total: Duration) -> SourceURL.Origin? {
        times.first { $0.value >= total * Self.decisiveShare }?.key
    }
}
