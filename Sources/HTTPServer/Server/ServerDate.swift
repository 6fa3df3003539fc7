// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The format of `Date` (RFC 9110 §5.6.7).
public enum ServerDate {
    /// `Sun, 06 Nov 1994 08:49:37 GMT` of seconds since 1970, whatever the locale.
    public static func imfFixdate(_ seconds: Int64) -> [UInt8] {
        var (time, parts) = unsafe (time_t(seconds), tm())
        unsafe gmtime_r(&time, &parts)
        let (day, month) = unsafe (days[Int(parts.tm_wday)], months[Int(parts.tm_mon)])
        let date = unsafe [two(parts.tm_mday), month, "\(parts.tm_year + 1_900)"].joined(separator: " ")
        let clock = unsafe [parts.tm_hour, parts.tm_min, parts.tm_sec].map(two).joined(separator: ":")
        return Array("\(day), \(date) \(clock) GMT".utf8)
    }

    private static func two(_ number: CInt) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
