// SPDX-License-Identifier: Apache-2.0

import Primitives

/// What follows from the configured bounds.
extension DiskCacheConfiguration {
    /// Most bytes of entries, the index and the folders.
    var totalBytes: Int64 { Int64(maxBytes.bytes) }

    /// The number of bytes at which a sweep for size ends.
    var lowWaterBytes: Int64 { Int64(Double(maxBytes.bytes) * lowWater) }

    /// Most bytes of the index, beyond which source records are removed: a quarter of all, and always a
    /// mebibyte.
    var indexBytes: Int64 { max(1 << 20, totalBytes / 4) }

    /// Most links of a tag to a result: one, 300 bytes in the index, for 4 KiB, and always 1,000. They take a
    /// 13th of all.
    var tagLinks: Int { min(limits.maxTagLinks, max(1_000, maxBytes.bytes / 4_096)) }

    /// Most bytes that the index's journal keeps between checkpoints: as configured, and at most a 16th of the tier.
    var journalSize: Int { min(limits.maxJournal.bytes, max(256 << 10, maxBytes.bytes / 16)) }
}
