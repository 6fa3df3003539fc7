// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// The system's clock.
package enum SystemTime {
    /// Returns the time in seconds since 1970.
    package static let seconds: @Sendable () -> Int64 = {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec)
    }
}
