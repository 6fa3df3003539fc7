// SPDX-License-Identifier: Apache-2.0

/// How much the disk tier holds, or by how much a change makes it hold more.
public struct DiskTally: Sendable, Equatable {
    /// Entries and their bytes.
    public struct Amount: Sendable, Equatable {
        /// Entries.
        public var entries = 0
        /// Bytes that their files take on the disk.
        public var bytes: Int64 = 0
    }

    /// Bytes as origins sent them.
    public var originals = Amount()
    /// What we made of them.
    public var results = Amount()
    /// Smaller stand-ins for originals.
    public var intermediates = Amount()
    /// What we made of those.
    public var derived = Amount()
    /// Source records.
    public var records = 0
    /// Entries that took the place of an earlier one; only in a change.
    var replaced = 0

    /// Bytes that all entries' files take on the disk.
    public var bytes: Int64 { EntryKind.allCases.reduce(0) { $0 + self[$1].bytes } }
    /// All entries.
    public var entries: Int { EntryKind.allCases.reduce(0) { $0 + self[$1].entries } }

    /// The amount of one kind.
    public subscript(kind: EntryKind) -> Amount {
        get {
            switch kind {
            case .original: originals
            case .result: results
            case .intermediate: intermediates
            case .derived: derived
            }
        }
        set {
            switch kind {
            case .original: originals = newValue
            case .result: results = newValue
            case .intermediate: intermediates = newValue
            case .derived: derived = newValue
            }
        }
    }

    /// Notes that entries came (or went, with negative numbers).
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
}
