// SPDX-License-Identifier: Apache-2.0

package import CLinux
import Glibc

/// The system's clocks.
package enum SystemTime {
    /// Returns the time in seconds since 1970.
    package static let seconds: @Sendable () -> Int64 = { nanoseconds(of: CLOCK_REALTIME) / 1_000_000_000 }

    /// Hot path: the time in seconds since 1970, from the kernel's coarse clock (a few nanoseconds).
    package static let coarseSeconds: @Sendable () -> Int64 = {
        nanoseconds(of: CLOCK_REALTIME_COARSE) / 1_000_000_000
    }

    package static let now: @Sendable () -> WallTime = { time(of: CLOCK_REALTIME) }

    /// Hot path: the time by the kernel's coarse clock (a few nanoseconds), which is up to a tick late: 1 to 10 ms.
    package static let coarse: @Sendable () -> WallTime = { time(of: CLOCK_REALTIME_COARSE) }

    private static func time(of clock: clockid_t) -> WallTime {
        WallTime(milliseconds: nanoseconds(of: clock) / 1_000_000)
    }

    /// The nanoseconds of a clock of clock_gettime(2).
    package static func nanoseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
