// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A time in the fields of the Gregorian calendar, in GMT.
package struct CalendarTime: Hashable {
    /// 0–9999.
    package var year: Int
    /// 1–12.
    package var month: Int
    /// 1–31.
    package var day: Int
    /// 0–23.
    package var hour: Int
    /// 0–59.
    package var minute: Int
    /// 0–60; 60 is a leap second.
    package var second: Int

    /// The first and last second of the years 0–9999.
    private static let range: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

    /// Converts seconds since 1970; those beyond the years 0–9999 are pinned to them.
    package init(seconds: Int64) {
        var pinned = time_t(min(max(seconds, Self.range.lowerBound), Self.range.upperBound))
        var fields = unsafe tm()
        // Can't fail: a year within `range` fits into an int.
        _ = unsafe gmtime_r(&pinned, &fields)
        (year, month, day) = unsafe (Int(fields.tm_year) + 1_900, Int(fields.tm_mon) + 1, Int(fields.tm_mday))
        (hour, minute, second) = unsafe (Int(fields.tm_hour), Int(fields.tm_min), Int(fields.tm_sec))
    }

    /// Creates a time from its fields; nil if a field is out of its range or the month has no such day.
    package init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        guard (0...9_999).contains(year), (1...12).contains(month), (1...31).contains(day),
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
        // timegm(3) makes 2 March of 30 February.
        guard minuteStart.day == day else { return nil }
    }

    /// Seconds since 1970.
    package var seconds: Int64 { minuteStart.seconds + Int64(second) }

    /// 0 (Sunday) to 6.
    package var weekday: Int { minuteStart.weekday }

    /// What timegm(3) says of the minute's begin: without a leap second, which would be the next minute's.
    private var minuteStart: (seconds: Int64, day: Int, weekday: Int) {
        var fields = unsafe tm()
        unsafe (fields.tm_year, fields.tm_mon, fields.tm_mday) = (
            CInt(year - 1_900), CInt(month - 1), CInt(day)
        )
        unsafe (fields.tm_hour, fields.tm_min) = (CInt(hour), CInt(minute))
        let seconds = Int64(unsafe timegm(&fields))
        return unsafe (seconds, Int(fields.tm_mday), Int(fields.tm_wday))
    }
}
