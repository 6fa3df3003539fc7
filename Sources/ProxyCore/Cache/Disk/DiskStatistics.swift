// SPDX-License-Identifier: Apache-2.0

/// How much the disk tier contains, or by how much a change increases that.
package struct DiskTally: Sendable, Equatable {
    /// Entries and their bytes.
    package struct Amount: Sendable, Equatable {
        package var entries = 0
        /// Bytes of the disk that their files take.
        package var bytes: Int64 = 0
    }

    private var amounts = [Amount](repeating: Amount(), count: EntryKind.allCases.count)
    /// Source records.
    package var records = 0

    /// Bytes of the disk that all entries' files take.
    package var bytes: Int64 { amounts.reduce(0) { $0 + $1.bytes } }
    package var entries: Int { amounts.reduce(0) { $0 + $1.entries } }
    package subscript(kind: EntryKind) -> Amount { amounts[Int(kind.rawValue) - 1] }

    /// Records that entries were added (or removed, with negative numbers).
    mutating func add(entries: Int, bytes: Int64, of kind: EntryKind) {
        amounts[Int(kind.rawValue) - 1].entries += entries
        amounts[Int(kind.rawValue) - 1].bytes += bytes
    }

    /// Adds a change.
    static func += (left: inout DiskTally, right: DiskTally) {
        for kind in EntryKind.allCases {
            left.add(entries: right[kind].entries, bytes: right[kind].bytes, of: kind)
        }
        left.records += right.records
    }
}

extension DiskCache {
    /// The tier's contents and counters since it was opened.
    package struct Statistics: Sendable {
        /// Entries, bytes and records now; while `isComplete` is false, what has been counted so far.
        package var tally = DiskTally()
        /// Bytes of the disk that the index, the folders and other files take in addition to the entries.
        package var overheadBytes: Int64 = 0
        /// The maximum of the entries' bytes and these together: `cache.disk.maxBytes`.
        package var maxBytes = 0
        /// Whether the tier stores and finds anything: it does not while it has no writable folder.
        package var isOn = true
        /// Whether all that was on disk at the start has been counted.
        package var isComplete = false
        /// Look-ups that found an entry, by kind.
        package var hits: [EntryKind: Int] = [:]
        /// Look-ups that found none, by kind.
        package var misses: [EntryKind: Int] = [:]
        /// Entries that were removed, by reason.
        package var evictions: [EvictionReason: Int] = [:]
        /// Files whose bytes were not those that were stored.
        package var corrupt = 0
        /// Changes that failed.
        package var writeErrors = 0
        /// Look-ups that failed.
        package var readErrors = 0

        /// Counts entries that were removed.
        mutating func evicted(_ count: Int, because reason: EvictionReason) {
            guard count > 0 else { return }
            evictions[reason, default: 0] += count
            if reason == .corrupt { corrupt += count }
        }

        /// Hot path: counts a look-up.
        mutating func lookedUp(_ kind: EntryKind, isHit: Bool) {
            if isHit { hits[kind, default: 0] += 1 } else { misses[kind, default: 0] += 1 }
        }
    }
}
