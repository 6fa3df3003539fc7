// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Formats a time as RFC 3339, in UTC with milliseconds.
func timestamp(_ milliseconds: Int64) -> String {
    let fraction = Int((milliseconds % 1_000 + 1_000) % 1_000)
    let time = CalendarTime(seconds: (milliseconds - Int64(fraction)) / 1_000)
    let date = "\(padded(time.year, 4))-\(padded(time.month, 2))-\(padded(time.day, 2))"
    let clock = [time.hour, time.minute, time.second].map { padded($0, 2) }.joined(separator: ":")
    return "\(date)T\(clock).\(padded(fraction, 3))Z"
}

private func padded(_ number: Int, _ width: Int) -> String {
    let digits = "\(number)"
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
