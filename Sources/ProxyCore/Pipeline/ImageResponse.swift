// SPDX-License-Identifier: Apache-2.0

/// An image that can be sent: its bytes, what they are, and how they were come by.
public struct ImageResponse: Sendable {
    /// What the bytes are.
    public var description: EntryDescription
    /// Freshness of the source they come from.
    public var record: SourceRecord
    /// The bytes.
    public var body: StoredBody
    /// The memory tier's entry, when the bytes are there.
    public var entry: MemoryEntry?
    /// Where the bytes came from.
    public var provenance: Provenance
    /// Whether some tier holds the bytes now.
    public var isStored = false
    /// Whether this caller was collapsed into another's flight.
    public var isCollapsed = false
    /// What was spent on making it; zero on hits.
    public var timings = Timings()

    /// Where an answer's bytes came from.
    public enum Provenance: Sendable, Hashable {
        /// The memory tier.
        case memory
        /// The disk tier, as they are.
        case disk
        /// Rendered now from an original in the disk tier.
        case storedOriginal
        /// A stored copy that the origin confirmed (304), or a rendition of it.
        case revalidated
        /// Fetched from the origin now.
        case fetched(wasStale: Bool)
    }

    /// Durations in microseconds.
    public struct Timings: Sendable, Hashable {
        /// Waiting for a worker.
        public var queue = 0
        /// Fetching or revalidating.
        public var fetch = 0
        /// Decoding, transforming and encoding, as the worker tells.
        public var decode = 0, transform = 0, encode = 0
    }
}
