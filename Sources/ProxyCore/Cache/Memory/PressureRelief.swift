// SPDX-License-Identifier: Apache-2.0

/// How large the memory tier may be while the machine is short of memory: half of what it holds at each alarm, and back
/// to its configured size in steps once there is peace.
///
/// SDWebImage drops its whole memory cache on a memory warning; half at a time keeps what is asked for most. Pure.
public struct PressureRelief: Sendable {
    /// The configured size in bytes.
    private var full: Int
    /// The size that may be used now, in bytes.
    public private(set) var bound: Int
    private var lastAlarm = Int64.min

    /// The least that is left of the configured size, as a divisor.
    private static let floor = 16
    /// The step back towards it, as a divisor.
    private static let step = 8
    /// Seconds of peace before each step.
    public static let peace: Int64 = 30

    /// Begins at the configured size in bytes.
    public init(full: Int) {
        self.full = full
        bound = full
    }

    /// Has another configured size, and returns the size that may be used: in peace that one.
    public mutating func resize(full: Int) -> Int {
        bound = isReduced ? min(bound, full) : full
        self.full = full
        return bound
    }

    /// Whether less than the configured size may be used.
    public var isReduced: Bool { bound < full }

    /// Notes that memory is short while the tier holds `bytes`, and returns the size that may be used.
    public mutating func alarm(holding bytes: Int, at now: Int64) -> Int {
        bound = max(full / Self.floor, min(bound, bytes) / 2)
        lastAlarm = now
        return bound
    }

    /// Returns the size that may be used now, a step more than before when there has been peace.
    public mutating func relax(at now: Int64) -> Int {
        guard isReduced, now - lastAlarm >= Self.peace else { return bound }
        lastAlarm = now
        bound = min(full, bound + full / Self.step)
        return bound
    }
}
