// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// The wall clock for freshness.
enum Clock {
    /// Hot path: seconds since 1970, from the kernel's coarse clock (a few nanoseconds).
    @Sendable static func now() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return Int64(time.tv_sec)
    }
}
