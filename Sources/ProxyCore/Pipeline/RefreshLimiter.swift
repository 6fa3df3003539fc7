// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Which sources are being refreshed in the background: each once at a time, few altogether, and not again at once when
/// that has failed. Pure.
struct RefreshLimiter: Sendable {
    private let limit: Int
    private let pause: Int64
    private var running: Set<CacheKey> = []
    /// Sources whose refresh has failed, and until when they are left alone, in seconds since 1970.
    private var resting: [CacheKey: Int64] = [:]

    /// Most sources that rest, for each that may run; beyond it those that have rested longest are forgotten with all.
    private static let restingShare = 128

    /// - Parameters:
    ///   - limit: refreshes at once.
    ///   - pause: seconds between a failure and the next try.
    init(limit: Int, pause: Int64) {
        self.limit = limit
        self.pause = pause
    }

    /// Refreshes under way.
    var count: Int { running.count }

    /// Takes a place; false when the source is being refreshed or rests, or all places are taken.
    mutating func begin(_ source: CacheKey, at now: Int64) -> Bool {
        guard running.count < limit, !running.contains(source), !rests(source, at: now) else {
            return false
        }
        resting[source] = nil
        running.insert(source)
        return true
    }

    private func rests(_ source: CacheKey, at now: Int64) -> Bool {
        guard let end = resting[source] else { return false }
        // A clock that was set back must not make the pause longer.
        return (1...pause).contains(end - now)
    }

    /// Gives the place back.
    mutating func end(_ source: CacheKey, hasFailed: Bool, at now: Int64) {
        running.remove(source)
        guard hasFailed, pause > 0 else { return }
        if resting.count >= limit * Self.restingShare { resting = resting.filter { $0.value > now } }
        if resting.count >= limit * Self.restingShare { resting = [:] }
        resting[source] = now + pause
    }
}
