// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// The system's clocks.
package enum SystemTime {
    /// Returns the time in seconds since 1970.
    package static let seconds: @Sendable () -> Int64 = { nanoseconds(CLOCK_REALTIME) / 1_000_000_000 }

    /// Returns the nanoseconds of a clock (clock_gettime(2)).
    package static func nanoseconds(_ clock: Int32) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
