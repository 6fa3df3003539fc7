// SPDX-License-Identifier: Apache-2.0

import Primitives
import URLs

/// Which sources are worked on in the background: each once at a time, few altogether, and some not again for a while. Pure.
struct SourceLimiter: Sendable {
    /// What causes work, as far as it is known.
    private struct Cause {
        var origin: SourceURL.Origin?
        var client: ClientID?
    }

    private let limit: Int
    private var capacity: Int
    private var running: [CacheKey: Cause] = [:]
    /// Sources that are paused: since when and until when, in seconds since 1970. Only peeked at, so the oldest goes first.
    private var paused = EvictionRing<CacheKey, Range<Int64>>(scanLimit: 64)

    /// - Parameters:
    ///   - limit: sources at once.
    ///   - capacity: most paused sources; beyond it the one paused longest ago is removed.
    init(limit: Int, capacity: Int) {
        self.limit = limit
        self.capacity = max(1, capacity)
    }

    /// Sources that are worked on.
    var count: Int { running.count }

    /// Changes the most paused sources.
    mutating func resize(capacity: Int) {
        self.capacity = max(1, capacity)
        paused.shrink(to: self.capacity)
    }

    /// Takes a place; false when the source has one or is paused, or all are taken.
    mutating func begin(_ source: CacheKey, at now: Int64) -> Bool {
        guard running.count < limit, running[source] == nil, !isPaused(source, at: now) else { return false }
        running[source] = Cause()
        return true
    }

    /// Counts a source that has a place for its origin and for the client that caused the work; false where one of them has
    /// its share already.
    /// - Parameter most: places of one origin; a client has three quarters of all.
    mutating func assign(
        _ source: CacheKey, to origin: SourceURL.Origin, atMost most: Int, for client: ClientID?
    ) -> Bool {
        let ofOrigin = running.values.count { $0.origin == origin }
        let ofClient = client.map { client in running.values.count { $0.client == client } } ?? 0
        guard ofOrigin < max(1, most), ofClient < max(1, limit * 3 / 4) else { return false }
        running[source] = Cause(origin: origin, client: client)
        return true
    }

    /// Gives the place back.
    /// - Parameter seconds: for which the source is paused.
    mutating func end(_ source: CacheKey, pausedFor seconds: Int64 = 0, at now: Int64) {
        running[source] = nil
        pause(source, for: seconds, at: now)
    }

    /// Whether work on the source is paused.
    func isPaused(_ source: CacheKey, at now: Int64) -> Bool {
        // A clock that was set back must not make the pause longer.
        paused.peek(source)?.contains(now) == true
    }

    /// Pauses a source that has no place.
    mutating func pause(_ source: CacheKey, for seconds: Int64, at now: Int64) {
        guard seconds > 0 else { return }
        paused.store(now..<now + seconds, for: source, capacity: capacity)
    }

    /// Ends the pause of a source.
    mutating func forget(_ source: CacheKey) { _ = paused.remove(source) }

    /// The same for all sources.
    mutating func forgetAll() { _ = paused.removeAll() }
}
