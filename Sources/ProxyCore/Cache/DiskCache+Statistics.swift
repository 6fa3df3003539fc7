// SPDX-License-Identifier: Apache-2.0

extension DiskCache {
    /// What the tier holds and has done since it was opened.
    public struct Statistics: Sendable {
        /// Entries, bytes and records now; while `isComplete` is false, what has been counted so far.
        public var tally: DiskTally
        /// Bytes of the disk that the index, the folders and other files take beside the entries.
        public var overheadBytes: Int64
        /// Whether all that was on disk at the start has been counted.
        public var isComplete: Bool
        /// Whether the index could not be used at the start, or was not there, and the folder is or was looked through.
        public var wasScanned: Bool
        /// Look-ups that found an entry, by kind.
        public var hits: [EntryKind: Int]
        /// Look-ups that found none, by kind.
        public var misses: [EntryKind: Int]
        /// Entries that left, by reason.
        public var evictions: [EvictionReason: Int]
        /// Files whose bytes were not those that were stored.
        public var corrupt: Int
        /// Changes that could not be made.
        public var writeErrors: Int
        /// Look-ups that failed.
        public var readErrors: Int
        /// Look-ups and stores refused because too many waited.
        public var refused: Int
        /// Accesses that were not noted because too many waited to be.
        public var touchesDropped: Int
        /// Memory that the set of entries takes, in bytes.
        public var setBytes: Int
    }

    /// What the tier holds and has done; takes some short locks.
    public var statistics: Statistics {
        let counts = parts.counters.all
        return Statistics(
            tally: counts.tally, overheadBytes: parts.overheadBytes, isComplete: parts.entries.isComplete,
            wasScanned: parts.needsScan,
            hits: counts.hits, misses: counts.misses, evictions: counts.evictions, corrupt: counts.corrupt,
            writeErrors: counts.writeErrors, readErrors: counts.readErrors, refused: readers.refused,
            touchesDropped: parts.touches.dropped, setBytes: parts.entries.byteCount)
    }
}
