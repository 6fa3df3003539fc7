// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// Formats a time as RFC 3339, in UTC with milliseconds.
func timestamp(_ milliseconds: Int64) -> String {
    let fraction = (milliseconds % 1_000 + 1_000) % 1_000
    var seconds = time_t((milliseconds - fraction) / 1_000)
    // Safe because no member that is a pointer is read, and both live for the duration of the call.
    var time = unsafe tm()
    unsafe gmtime_r(&seconds, &time)
    let date = unsafe [(time.tm_year + 1_900, 4), (time.tm_mon + 1, 2), (time.tm_mday, 2)].map(padded)
    let hour = unsafe [(time.tm_hour, 2), (time.tm_min, 2), (time.tm_sec, 2)].map(padded)
    return "\(date.joined(separator: "-"))T\(hour.joined(separator: ":")).\(padded(Int32(fraction), 3))Z"
}

private func padded(_ number: Int32, _ width: Int) -> String {
    let digits = "\(number)"
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
