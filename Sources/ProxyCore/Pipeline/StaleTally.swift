// SPDX-License-Identifier: Apache-2.0

package import Cache
import Synchronization

/// How often a stale copy was served, by where it lay; tiers themselves know nothing of freshness. Safe from any thread.
package final class StaleTally: Sendable {
    /// What has been counted.
    package struct Counts: Sendable, Equatable {
        package var memory = 0
        /// From disk, by kind, open files included.
        package var disk: [EntryKind: Int] = [:]
    }

    private let counts = Mutex(Counts())

    init() {}

    /// The counts so far.
    package var value: Counts { counts.withLock { $0 } }

    /// Counts an answer from an entry in memory or of an open file.
    func count(_ entry: MemoryEntry) {
        entry.isOnDisk ? count(entry.description.kind) : counts.withLock { $0.memory += 1 }
    }

    /// Counts an answer from what was found in a tier.
    func count(_ found: ImageTiers.Found) {
        if let entry = found.entry { count(entry) } else { count(found.description.kind) }
    }

    /// Counts an answer from the disk tier.
    func count(_ kind: EntryKind) {
        counts.withLock { $0.disk[kind, default: 0] += 1 }
    }
}
