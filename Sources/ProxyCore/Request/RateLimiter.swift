// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// How often one client may ask.
///
/// Configuration: `security.rateLimit`.
public struct RateLimitConfiguration: Sendable, Hashable, Codable {
    /// Requests of one client in each `window`, on average.
    ///
    /// Default 0: no limit. Beyond it 429 with `Retry-After`.
    public var requests: Int = 0
    /// See `requests`.
    ///
    /// Default 1m.
    public var window: TimeSpan = .minutes(1)
    /// Requests at once of a client that has not asked for a while.
    ///
    /// Default 0: as many as `requests`.
    public var burst: Int = 0
    /// Clients that are remembered; of more, those are forgotten that nobody has heard of lately.
    ///
    /// Default 65536, about 100 bytes each.
    public var maxClients: Int = 65_536

    /// The defaults.
    public init() {}
}

/// Counts the requests of each client, as a bucket that leaks evenly (GCRA, ITU-T I.371). Safe from any thread.
public final class RateLimiter<Client: Hashable & Sendable>: Sendable {
    /// What a client may do.
    public enum Verdict: Sendable, Hashable {
        /// Ask.
        case admitted
        /// Ask again after this many seconds, at least 1.
        case refused(seconds: Int)
    }

    /// Some of the clients, each with the moment up to which its time is taken.
    private final class Shard: Sendable {
        let clients = Mutex(EvictionRing<Client, Int64>(scanLimit: RateLimiter.scanLimit))
    }

    /// Locks, so that loops seldom wait for each other.
    private static var shardCount: Int { 16 }
    private static var scanLimit: Int { 64 }

    /// Nanoseconds that one request takes of a client's time, and how far ahead of the clock a client may be.
    private let interval: Int64, tolerance: Int64
    private let clientsPerShard: Int
    private let shards: [Shard]

    /// A limiter that has seen nobody; nil where there is no limit.
    public init?(configuration: RateLimitConfiguration) {
        guard configuration.requests > 0 else { return nil }
        let window = Int64(max(1, configuration.window.milliseconds)) * 1_000_000
        interval = max(1, window / Int64(configuration.requests))
        let burst = configuration.burst > 0 ? configuration.burst : configuration.requests
        tolerance = interval * Int64(burst - 1)
        clientsPerShard = max(1, configuration.maxClients / Self.shardCount)
        shards = (0..<Self.shardCount).map { _ in Shard() }
    }

    /// Hot path: counts a request if the client may ask now. One lock; allocates for new clients only.
    /// - Parameter now: nanoseconds of a clock that only goes forward.
    public func admit(_ client: Client, at now: Int64) -> Verdict {
        let shard = shards[Int(UInt(bitPattern: client.hashValue) % UInt(Self.shardCount))]
        return shard.clients.withLock { ring in
            let due = max(ring.value(for: client) ?? now, now)
            let wait = due - now - tolerance
            guard wait <= 0 else { return .refused(seconds: Int((wait + 999_999_999) / 1_000_000_000)) }
            guard !ring.replace(due + interval, for: client) else { return .admitted }
            if ring.count >= clientsPerShard { _ = ring.evict() }
            _ = ring.insert(due + interval, for: client, cost: 1)
            return .admitted
        }
    }
}
