// SPDX-License-Identifier: Apache-2.0

import Bodies
import Freshness
import Primitives
import Synchronization

/// The records that this node has uploaded last, so that a second picture of a source does not upload its record again.
///
/// Bounded by count. Safe from any thread.
final class SentRecords: Sendable {
    private struct Sent: Equatable {
        let hash: ContentHash
        let responseTime: WallTime
        let lifetime: Int64
    }

    private let sent = Mutex(EvictionRing<CacheKey, Sent>(scanLimit: 64))
    private static let capacity = 16_384

    func has(_ record: SourceRecord) -> Bool {
        sent.withLock { $0.value(for: record.key) } == Self.sent(record)
    }

    func note(_ record: SourceRecord) {
        sent.withLock { $0.store(Self.sent(record), for: record.key, capacity: Self.capacity) }
    }

    /// Forgets a source, because its record has been deleted.
    func forget(_ source: CacheKey) {
        sent.withLock { _ = $0.remove(source) }
    }

    func forgetAll() { sent.withLock { $0 = EvictionRing(scanLimit: 64) } }

    private static func sent(_ record: SourceRecord) -> Sent {
        Sent(
            hash: record.contentHash, responseTime: record.reuse.responseTime,
            lifetime: record.reuse.freshnessLifetime)
    }
}
