// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What the disk tier has counted since it was opened.
final class DiskCounters: Sendable {
    /// The counts, and the tally of what is there.
    struct Counts {
        /// What the tier holds, once everything has been counted; until then, how it has changed.
        var tally = DiskTally()
        /// Entries that left, by reason.
        var evictions: [EvictionReason: Int] = [:]
        /// Files whose bytes were not those that were stored.
        var corrupt = 0
        /// Changes that could not be made, and look-ups that failed.
        var writeErrors = 0
        var readErrors = 0
        /// Look-ups by outcome.
        var hits: [EntryKind: Int] = [:]
        var misses: [EntryKind: Int] = [:]
    }

    private let counts = Mutex(Counts())

    /// All counts.
    var all: Counts { counts.withLock { $0 } }

    /// What the tier holds.
    var tally: DiskTally { counts.withLock { $0.tally } }

    /// Adds a change of what the tier holds.
    func add(_ change: DiskTally) {
        counts.withLock { counts in
            counts.tally += change
            if change.replaced > 0 { counts.evictions[.replaced, default: 0] += change.replaced }
        }
    }

    /// Declares that the tier holds nothing.
    func resetTally() {
        counts.withLock { $0.tally = DiskTally() }
    }

    /// Counts entries that left.
    func evicted(_ count: Int = 1, because reason: EvictionReason) {
        guard count > 0 else { return }
        counts.withLock { counts in
            counts.evictions[reason, default: 0] += count
            if reason == .corrupt { counts.corrupt += count }
        }
    }

    /// Counts a damaged file that is not ours to remove.
    func foundCorrupt() {
        counts.withLock { $0.corrupt += 1 }
    }

    /// Counts changes that could not be made.
    func failedToWrite(_ count: Int = 1) {
        counts.withLock { $0.writeErrors += count }
    }

    /// Counts a look-up that failed.
    func failedToRead() {
        counts.withLock { $0.readErrors += 1 }
    }

    /// Hot path: counts a look-up.
    func lookedUp(_ kind: EntryKind, isHit: Bool) {
        counts.withLock { counts in
            if isHit { counts.hits[kind, default: 0] += 1 } else { counts.misses[kind, default: 0] += 1 }
        }
    }
}
