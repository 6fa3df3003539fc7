// SPDX-License-Identifier: Apache-2.0

import Primitives

/// How much the disk tier may hold, and for how long: what a reload of the configuration changes.
struct DiskBounds: Sendable {
    /// Most bytes of entries, the index and the folders.
    let maxBytes: Int64
    /// To which share of the bound, or on a full disk of what there is, the oldest entries are removed.
    let lowWater: Double
    /// Entries older than this are removed, in seconds.
    let maxAge: Int64
    /// Time between sweeps, in milliseconds; never 0.
    let sweepInterval: Int
    /// Most links of a tag to a result: one, 300 bytes in the index, for 4 KiB, and always 1,000. They take a 13th of all.
    let maxTagLinks: Int

    init(_ configuration: DiskCacheConfiguration) {
        maxBytes = Int64(configuration.maxBytes.bytes)
        lowWater = configuration.lowWater
        maxAge = Int64(configuration.maxAge.seconds)
        sweepInterval = max(1, configuration.sweepInterval.milliseconds)
        maxTagLinks = min(configuration.limits.maxTagLinks, max(1_000, configuration.maxBytes.bytes / 4_096))
    }

    /// The number of bytes at which a sweep for size ends.
    var lowWaterBytes: Int64 { Int64(Double(maxBytes) * lowWater) }

    /// Most bytes of the index, beyond which source records are removed: a quarter of all, and always a mebibyte.
    var maxIndexBytes: Int64 { max(1 << 20, maxBytes / 4) }
}
