// SPDX-License-Identifier: Apache-2.0

import Primitives
import Synchronization

/// Limits the requests of each client by GCRA (ITU-T I.371), an evenly leaking bucket. Safe from any thread.
package final class RateLimiter<Client: Hashable & Sendable>: Sendable {
    /// The decision about a request.
    package enum Verdict: Sendable, Hashable {
        /// The request is allowed.
        case admitted
        /// Allowed again after this many seconds, at least 1.
        case refused(seconds: Int)
    }

    /// A part of the clients, each with the theoretical arrival time of its next request.
    private final class Shard: Sendable {
        let clients = Mutex(EvictionRing<Client, Int64>(scanLimit: RateLimiter.scanLimit))
    }

    /// The number of locks; with several, event loops rarely wait for each other.
    private static var shardCount: Int { 16 }
    private static var scanLimit: Int { 64 }

    /// In nanoseconds: the time that one request uses, and how far a client may be ahead of the clock.
    private let interval: Int64, tolerance: Int64
    private let clientsPerShard: Int
    private let shards: [Shard]

    /// Creates a limiter without clients; nil if there is no limit.
    package init?(configuration: RateLimitConfiguration) {
        guard configuration.requests > 0 else { return nil }
        let window = Int64(max(1, configuration.window.milliseconds)) * 1_000_000
        interval = max(1, window / Int64(configuration.requests))
        let burst = configuration.burst > 0 ? configuration.burst : configuration.requests
        tolerance = interval * Int64(burst - 1)
        clientsPerShard = max(1, configuration.maxClients / Self.shardCount)
        shards = (0..<Self.shardCount).map { _ in Shard() }
    }

    /// Hot path: counts a request if the client may send it now. Takes one lock; allocates only for new
    /// clients.
    /// - Parameters:
    ///   - client: whose request it is.
    ///   - now: nanoseconds of a monotonic clock.
    package func admit(_ client: Client, at now: Int64) -> Verdict {
        let shard = shards[Int(UInt(bitPattern: client.hashValue) % UInt(Self.shardCount))]
        return shard.clients.withLock { ring in
            let due = max(ring.value(for: client) ?? now, now)
            let wait = due - now - tolerance
            guard wait <= 0 else { return .refused(seconds: Int((wait + 999_999_999) / 1_000_000_000)) }
            ring.store(due + interval, for: client, capacity: clientsPerShard)
            return .admitted
        }
    }
}
