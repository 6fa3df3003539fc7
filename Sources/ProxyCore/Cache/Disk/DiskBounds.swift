// SPDX-License-Identifier: Apache-2.0

/// How much the disk tier may keep, and for how long: what can change while it is open.
struct DiskBounds: Sendable {
    /// Most bytes of entries.
    let maxBytes: Int64
    /// Down to how many a sweep goes that finds more.
    let lowWater: Int64
    /// That in proportion to what there may be.
    let share: Double
    /// The age beyond which entries go, in seconds.
    let maxAge: Int64
    /// Milliseconds between sweeps.
    let sweepInterval: Int

    init(_ configuration: DiskCacheConfiguration) {
        maxBytes = Int64(configuration.maxBytes.bytes)
        share = configuration.lowWater
        lowWater = Int64(Double(maxBytes) * share)
        maxAge = Int64(configuration.maxAge.seconds)
        sweepInterval = max(1, configuration.sweepInterval.milliseconds)
    }
}
