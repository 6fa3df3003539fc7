// SPDX-License-Identifier: Apache-2.0

import Primitives

extension HTTPDate {
    /// Parses any of the three formats of RFC 9110 §5.6.7; nil for anything else.
    ///
    /// Letters are case-insensitive (RFC 9111 §4.2). The name of the day is not compared with the date. `now`
    /// (seconds since 1970) decides the century of an RFC 850 date: one more than 50 years ahead is in the
    /// past.
    package init?(_ text: String, now: Int64) {
        let bytes = Array(text.utf8)
        guard
            let calendar = Self.canonical(bytes) ?? Self.fixdate(bytes) ?? Self.rfc850(bytes, now)
                ?? Self.asctime(bytes)
        else { return nil }
        self.init(seconds: calendar.seconds)
    }

    /// What nearly all origins send, `Sun, 06 Nov 1994 08:49:37 GMT` in exactly this case, without a search
    /// for names.
    private static func canonical(_ bytes: [UInt8]) -> CalendarTime? {
        guard bytes.count == formattedCount, bytes[3...4].elementsEqual(", ".utf8),
            [7, 11, 16].allSatisfy({ bytes[$0] == UInt8(ascii: " ") }), bytes[19] == UInt8(ascii: ":"),
            bytes[22] == UInt8(ascii: ":"), bytes[25...].elementsEqual(" GMT".utf8),
            dayCodes.contains(code(bytes[0..<3])), let month = monthCodes.firstIndex(of: code(bytes[8..<11])),
            let day = number(bytes[5..<7]), let year = number(bytes[12..<16]),
            let hour = number(bytes[17..<19]), let minute = number(bytes[20..<22]),
            let second = number(bytes[23..<25])
        else { return nil }
        return CalendarTime(
            year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
    }

    private static let dayCodes = days.map { code(ArraySlice($0.utf8)) }
    private static let monthCodes = months.map { code(ArraySlice($0.utf8)) }

    /// Three letters as one number.
    private static func code(_ letters: ArraySlice<UInt8>) -> UInt32 {
        letters.reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        var number = 0
        for digit in digits {
            guard digit.isASCIIDigit else { return nil }
            number = number * 10 + Int(digit - 0x30)
        }
        return number
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func fixdate(_ bytes: [UInt8]) -> CalendarTime? {
        var scan = Scan(bytes)
        guard scan.name(in: days) != nil, scan.literal(", "), let day = scan.number(2), scan.literal(" "),
            let month = scan.name(in: months), scan.literal(" "), let year = scan.number(4),
            scan.literal(" "),
            let time = scan.time(), scan.literal(" GMT"), scan.isAtEnd
        else { return nil }
        return CalendarTime(
            year: year, month: month + 1, day: day, hour: time.hour, minute: time.minute, second: time.second)
    }

    /// `Sunday, 06-Nov-94 08:49:37 GMT`.
    private static func rfc850(_ bytes: [UInt8], _ now: Int64) -> CalendarTime? {
        var scan = Scan(bytes)
        guard scan.name(in: longDays) != nil, scan.literal(", "), let day = scan.number(2), scan.literal("-"),
            let month = scan.name(in: months), scan.literal("-"), let shortYear = scan.number(2),
            scan.literal(" "), let time = scan.time(), scan.literal(" GMT"), scan.isAtEnd
        else { return nil }
        let thisYear = CalendarTime(seconds: now).year
        let year = thisYear - thisYear % 100 + shortYear
        return CalendarTime(
            year: year > thisYear + 50 ? year - 100 : year, month: month + 1, day: day, hour: time.hour,
            minute: time.minute, second: time.second)
    }

    /// `Sun Nov  6 08:49:37 1994`.
    private static func asctime(_ bytes: [UInt8]) -> CalendarTime? {
        var scan = Scan(bytes)
        guard scan.name(in: days) != nil, scan.literal(" "), let month = scan.name(in: months),
            scan.literal(" "),
            let day = scan.literal(" ") ? scan.number(1) : scan.number(2), scan.literal(" "),
            let time = scan.time(), scan.literal(" "), let year = scan.number(4), scan.isAtEnd
        else { return nil }
        return CalendarTime(
            year: year, month: month + 1, day: day, hour: time.hour, minute: time.minute, second: time.second)
    }

    private static let longDays = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ]

    /// Scans the bytes of a date; each step consumes what it names, or fails.
    private struct Scan {
        private var rest: ArraySlice<UInt8>

        init(_ bytes: [UInt8]) {
            rest = bytes[...]
        }

        var isAtEnd: Bool { rest.isEmpty }

        mutating func literal(_ text: String) -> Bool {
            guard rest.starts(with: text.utf8, by: { $0 == $1 || Self.isSameLetter($0, $1) }) else {
                return false
            }
            rest = rest.dropFirst(text.utf8.count)
            return true
        }

        private static func isSameLetter(_ byte: UInt8, _ other: UInt8) -> Bool {
            byte | 0x20 == other | 0x20 && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }

        mutating func name(in names: [String]) -> Int? {
            names.firstIndex { literal($0) }
        }

        mutating func number(_ digits: Int) -> Int? {
            let text = rest.prefix(digits)
            guard text.count == digits, text.allSatisfy(\.isASCIIDigit) else { return nil }
            rest = rest.dropFirst(digits)
            return text.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }

        mutating func time() -> (hour: Int, minute: Int, second: Int)? {
            guard let hour = number(2), literal(":"), let minute = number(2), literal(":"),
                let second = number(2)
            else { return nil }
            return (hour, minute, second)
        }
    }
}
