// SPDX-License-Identifier: Apache-2.0

/// Formats a time as RFC 3339, in UTC with milliseconds.
func timestamp(_ milliseconds: Int64) -> String {
    let (day, rest) = milliseconds.flooredDivision(by: 86_400_000)
    let (year, month, dayOfMonth) = civil(day)
    let time = [(rest / 3_600_000), (rest / 60_000 % 60), (rest / 1_000 % 60)].map { padded($0, 2) }
    let date = [padded(year, 4), padded(month, 2), padded(dayOfMonth, 2)].joined(separator: "-")
    return "\(date)T\(time.joined(separator: ":")).\(padded(rest % 1_000, 3))Z"
}

/// The date of a day counted from 1970 in the Gregorian calendar; the year is counted from March, so that the
/// leap day is its last.
private func civil(_ day: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = (day + 719_468).flooredDivision(by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
}

private func padded(_ number: Int64, _ width: Int) -> String {
    let digits = "\(number)"
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

extension Int64 {
    fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let remainder = (self % divisor + divisor) % divisor
        return ((self - remainder) / divisor, remainder)
    }
}
