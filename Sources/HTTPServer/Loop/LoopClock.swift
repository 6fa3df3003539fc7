// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The clock by which a server's timeouts pass.
struct LoopClock: Sendable {
    /// Returns the nanoseconds of a clock that is never set; nil for the system's, which costs no call of a closure.
    private let read: (@Sendable () -> UInt64)?

    /// The system's monotonic clock.
    static let system = LoopClock(read: nil)

    /// Another clock.
    /// - Parameter read: returns its nanoseconds; called on the loops.
    init(_ read: @escaping @Sendable () -> UInt64) { self.read = read }

    private init(read: (@Sendable () -> UInt64)?) { self.read = read }

    /// Hot path: the time in nanoseconds.
    var now: UInt64 { read?() ?? Self.nanoseconds(of: CLOCK_MONOTONIC) }

    /// The nanoseconds of a clock of clock_gettime(2).
    static func nanoseconds(of clock: clockid_t) -> UInt64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
