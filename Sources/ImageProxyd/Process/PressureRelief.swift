// SPDX-License-Identifier: Apache-2.0

/// The bound of the memory tier while the machine is short of memory: half of its contents at each event, and
/// back to its configured size in steps once there are no more.
///
/// SDWebImage drops its whole memory cache on a memory warning; half at a time keeps what is requested most.
/// Pure.
struct PressureRelief: Sendable {
    /// The configured size in bytes.
    private var full: Int
    /// The size that may be used now, in bytes.
    private(set) var bound: Int
    /// When memory was last short, or the last step of regrowth was.
    private var lastChange = Int64.min

    /// The minimum of the configured size, as a divisor.
    private static let floor = 16
    /// The step of regrowth, as a divisor.
    private static let step = 8
    /// Seconds without pressure before each step.
    static let calm: Int64 = 30

    /// Starts at the configured size in bytes.
    init(full: Int) {
        self.full = full
        bound = full
    }

    /// Sets another configured size, and returns the bound: that size while there is no pressure.
    mutating func resize(full: Int) -> Int {
        bound = isReduced ? min(bound, full) : full
        self.full = full
        return bound
    }

    /// Whether the bound is below the configured size.
    var isReduced: Bool { bound < full }

    /// Records that memory is short while the tier holds `bytes`, and returns the bound.
    mutating func pressureReported(holding bytes: Int, at now: Int64) -> Int {
        bound = max(full / Self.floor, min(bound, bytes) / 2)
        lastChange = now
        return bound
    }

    /// Returns the bound, a step more than before if there was no pressure.
    mutating func relax(at now: Int64) -> Int {
        guard isReduced, now - lastChange >= Self.calm else { return bound }
        lastChange = now
        bound = min(full, bound + full / Self.step)
        return bound
    }
}
