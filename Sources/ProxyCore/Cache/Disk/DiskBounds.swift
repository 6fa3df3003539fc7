// SPDX-License-Identifier: Apache-2.0

/// How much the disk tier may store, and for how long: can change while it is open.
struct DiskBounds: Sendable {
    /// Most bytes of entries, the index and the folders.
    let maxBytes: Int64
    /// The number of bytes at which a sweep for size ends.
    let lowWater: Int64
    /// That as a share of the maximum.
    let share: Double
    /// Most bytes of the index; beyond it source records are removed.
    let indexBytes: Int64
    /// Most links of a tag to a result.
    let maxTagLinks: Int
    /// The age beyond which entries are removed, in seconds.
    let maxAge: Int64
    /// Milliseconds between sweeps.
    let sweepInterval: Int

    /// The index may take a quarter of all, and always a mebibyte.
    private static let indexDivisor: Int64 = 4
    private static let minIndexBytes: Int64 = 1 << 20
    /// One link, 300 bytes in the index, for so many bytes of `maxBytes`: they take a 13th of it. There is a
    /// minimum.
    private static let bytesPerTagLink: Int64 = 4_096
    private static let minTagLinks = 1_000

    init(_ configuration: DiskCacheConfiguration) {
        maxBytes = Int64(configuration.maxBytes.bytes)
        share = configuration.lowWater
        lowWater = Int64(Double(maxBytes) * share)
        indexBytes = max(Self.minIndexBytes, maxBytes / Self.indexDivisor)
        maxTagLinks = min(
            configuration.limits.maxTagLinks, max(Self.minTagLinks, Int(maxBytes / Self.bytesPerTagLink)))
        maxAge = Int64(configuration.maxAge.seconds)
        sweepInterval = max(1, configuration.sweepInterval.milliseconds)
    }

}

extension DiskCacheConfiguration {
    /// The space in reserve: as configured, and at most a 16th of the tier.
    var ballastSize: ByteCount { ByteCount(min(limits.ballast.bytes, maxBytes.bytes / 16)) }

    /// Most bytes that the index's journal keeps between checkpoints, likewise.
    var journalSize: Int { min(limits.maxJournal.bytes, max(256 << 10, maxBytes.bytes / 16)) }
}
