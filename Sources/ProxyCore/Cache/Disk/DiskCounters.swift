// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// How much the disk tier contains, or by how much a change increases that.
package struct DiskTally: Sendable, Equatable {
    /// Entries and their bytes.
    package struct Amount: Sendable, Equatable {
        /// Entries.
        package var entries = 0
        /// Bytes of the disk that their files take.
        package var bytes: Int64 = 0
    }

    private var amounts: InlineArray<4, Amount> = .init(repeating: Amount())
    /// Source records.
    package var records = 0
    /// Entries that replaced an earlier one; only in a change.
    var replaced = 0

    /// Bytes of the disk that all entries' files take.
    package var bytes: Int64 { EntryKind.allCases.reduce(0) { $0 + self[$1].bytes } }
    /// All entries.
    package var entries: Int { EntryKind.allCases.reduce(0) { $0 + self[$1].entries } }
    /// Bytes made from them.
    package var results: Amount { self[.result] }

    /// The amount of one kind.
    package private(set) subscript(kind: EntryKind) -> Amount {
        get { amounts[Int(kind.rawValue) - 1] }
        set { amounts[Int(kind.rawValue) - 1] = newValue }
    }

    /// Records that entries were added (or removed, with negative numbers).
    mutating func add(entries: Int, bytes: Int64, of kind: EntryKind) {
        self[kind].entries += entries
        self[kind].bytes += bytes
    }

    /// Adds a change.
    static func += (left: inout DiskTally, right: DiskTally) {
        for kind in EntryKind.allCases {
            left.add(entries: right[kind].entries, bytes: right[kind].bytes, of: kind)
        }
        left.records += right.records
    }

    /// Whether both contain as much.
    package static func == (left: DiskTally, right: DiskTally) -> Bool {
        EntryKind.allCases.allSatisfy { left[$0] == right[$0] } && left.records == right.records
            && left.replaced == right.replaced
    }
}

/// What the disk tier has counted since it was opened. Safe from any thread.
final class DiskCounters: Sendable {
    /// The counts, and the tally: until everything has been counted, how it has changed.
    struct Counts {
        var tally = DiskTally()
        /// Entries that were removed, by reason.
        var evictions: [EvictionReason: Int] = [:]
        /// Files whose bytes were not those that were stored.
        var corrupt = 0
        /// Changes that failed.
        var writeErrors = 0
        /// Look-ups that failed.
        var readErrors = 0
        var hits: [EntryKind: Int] = [:]
        var misses: [EntryKind: Int] = [:]
    }

    private let counts = Mutex(Counts())

    /// All counts.
    var all: Counts { counts.withLock { $0 } }

    /// What the tier contains.
    var tally: DiskTally { counts.withLock { $0.tally } }

    /// Adds a change of the tally.
    func add(_ change: DiskTally) {
        counts.withLock { counts in
            counts.tally += change
            if change.replaced > 0 { counts.evictions[.replaced, default: 0] += change.replaced }
        }
    }

    /// Sets the tally to nothing.
    func resetTally() { counts.withLock { $0.tally = DiskTally() } }

    /// Counts entries that were removed.
    func evicted(_ count: Int = 1, because reason: EvictionReason) {
        guard count > 0 else { return }
        counts.withLock { counts in
            counts.evictions[reason, default: 0] += count
            if reason == .corrupt { counts.corrupt += count }
        }
    }

    /// Counts a damaged file of a read-only folder.
    func foundCorrupt() { counts.withLock { $0.corrupt += 1 } }

    /// Counts changes that failed.
    func failedToWrite(_ count: Int = 1) { counts.withLock { $0.writeErrors += count } }

    /// Counts a look-up that failed.
    func failedToRead() { counts.withLock { $0.readErrors += 1 } }

    /// Hot path: counts a look-up.
    func lookedUp(_ kind: EntryKind, isHit: Bool) {
        counts.withLock { counts in
            if isHit { counts.hits[kind, default: 0] += 1 } else { counts.misses[kind, default: 0] += 1 }
        }
    }
}
