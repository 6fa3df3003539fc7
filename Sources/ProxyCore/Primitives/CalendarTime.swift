// SPDX-License-Identifier: Apache-2.0

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

    private static let secondsPerDay: Int64 = 86_400
    /// The first and last second of the years 0–9999.
    private static let range: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

    /// Converts seconds since 1970; those beyond the years 0–9999 are pinned to them.
    package init(seconds: Int64) {
        let pinned = min(max(seconds, Self.range.lowerBound), Self.range.upperBound)
        let days = (pinned - Self.modulo(pinned, Self.secondsPerDay)) / Self.secondsPerDay
        let time = Int(Self.modulo(pinned, Self.secondsPerDay))
        (year, month, day) = Self.date(days: Int(days))
        (hour, minute, second) = (time / 3_600, time / 60 % 60, time % 60)
    }

    /// Creates a time from its fields; nil if a field is out of its range or the month has no such day.
    package init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        guard (0...9_999).contains(year), (1...12).contains(month), (0...23).contains(hour),
            (0...59).contains(minute), (0...60).contains(second),
            (1...Self.days(in: month, of: year)).contains(day)
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }

    /// Seconds since 1970.
    package var seconds: Int64 {
        Int64(days) * Self.secondsPerDay + Int64(hour * 3_600 + minute * 60 + second)
    }

    /// 0 (Sunday) to 6.
    package var weekday: Int { Int(Self.modulo(Int64(days + 4), 7)) }

    /// Days since 1970, by counting years from March, so that a leap day is the last of its year.
    private var days: Int {
        let shifted = month > 2 ? year : year - 1
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The inverse of `days`.
    private static func date(days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func modulo(_ value: Int64, _ divisor: Int64) -> Int64 {
        let remainder = value % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}
