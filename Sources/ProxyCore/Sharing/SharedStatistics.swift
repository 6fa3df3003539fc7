// SPDX-License-Identifier: Apache-2.0

package import Cache
import Synchronization

/// What the tier has done and holds, for metrics.
package struct SharedStatistics: Sendable, Hashable {
    /// An exchange with the store that costs money.
    package enum Operation: Int, Sendable, CaseIterable {
        case get, put, delete, list
    }

    /// What became of it.
    package enum Outcome: Int, Sendable, CaseIterable {
        /// It did what it was to do; a look-up found something that is used.
        case ok
        /// There was no such object.
        case missing
        /// There was one, and it is not used: damaged, of another content, past its age, or from before a purge.
        case unusable
        /// The store refused, or broke off.
        case failed
        /// It took longer than it may.
        case timedOut
        /// The store was not asked: its breaker was open, too many look-ups were under way, or the journal was not read.
        case skipped
    }

    /// Exchanges, by operation and outcome.
    package var requests: [Operation: [Outcome: Int]] = [:]
    /// Look-ups of pictures and originals that found one to be used, and the others, by kind: `original` or `result`.
    package var hits: [EntryKind: Int] = [:], misses: [EntryKind: Int] = [:]
    /// Bytes of objects.
    package var bytesIn = 0, bytesOut = 0
    /// Names of pictures that wait to be uploaded: bytes and their bound.
    package var queueBytes = 0, queueLimit = 0
    /// Pictures that were not uploaded because too many waited.
    package var dropped = 0
    /// Whether the store is left alone.
    package var isBreakerOpen = false
    /// Seconds since the journal of purges was read, or since the start.
    package var journalAge: Double = 0
    /// Purges that are remembered.
    package var purges = 0
}

/// Counts exchanges. Safe from any thread.
final class SharedCounters: Sendable {
    private let statistics = Mutex(SharedStatistics())

    func count(
        _ operation: SharedStatistics.Operation, _ outcome: SharedStatistics.Outcome, bytes: Int = 0
    ) {
        statistics.withLock { state in
            state.requests[operation, default: [:]][outcome, default: 0] += 1
            switch operation {
            case .get: state.bytesIn += bytes
            case .put: state.bytesOut += bytes
            case .delete, .list: break
            }
        }
    }

    /// Counts a look-up of a picture or an original.
    func count(lookUpOf kind: EntryKind, isHit: Bool) {
        statistics.withLock { state in
            if isHit { state.hits[kind, default: 0] += 1 } else { state.misses[kind, default: 0] += 1 }
        }
    }

    /// What has been counted; the rest of the statistics is the tier's.
    var snapshot: SharedStatistics { statistics.withLock { $0 } }
}
