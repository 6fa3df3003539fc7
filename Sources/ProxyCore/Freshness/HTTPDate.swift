// SPDX-License-Identifier: Apache-2.0

/// A point in time as HTTP writes it: whole seconds, Greenwich time (RFC 9110 §5.6.7).
public struct HTTPDate: Sendable, Hashable, Comparable {
    /// Seconds since 1970, leap seconds not counted.
    public let seconds: Int64

    /// Wraps seconds since 1970.
    public init(seconds: Int64) {
        self.seconds = seconds
    }

    /// Earlier comes first.
    public static func < (left: HTTPDate, right: HTTPDate) -> Bool { left.seconds < right.seconds }

    /// Bytes of an IMF-fixdate.
    public static let formattedCount = 29

    /// Writes `Sun, 06 Nov 1994 08:49:37 GMT` (IMF-fixdate), behind what is in `buffer`.
    ///
    /// Years beyond 0–9999 are pinned to that range.
    public func append(to buffer: inout [UInt8]) {
        let calendar = CalendarTime(seconds: seconds)
        buffer.append(contentsOf: Self.days[calendar.weekday].utf8)
        buffer.append(contentsOf: ", ".utf8)
        Self.append(calendar.day, digits: 2, to: &buffer)
        buffer.append(UInt8(ascii: " "))
        buffer.append(contentsOf: Self.months[calendar.month - 1].utf8)
        buffer.append(UInt8(ascii: " "))
        Self.append(calendar.year, digits: 4, to: &buffer)
        buffer.append(UInt8(ascii: " "))
        Self.append(calendar.hour, digits: 2, to: &buffer)
        buffer.append(UInt8(ascii: ":"))
        Self.append(calendar.minute, digits: 2, to: &buffer)
        buffer.append(UInt8(ascii: ":"))
        Self.append(calendar.second, digits: 2, to: &buffer)
        buffer.append(contentsOf: " GMT".utf8)
    }

    private static func append(_ number: Int, digits: Int, to buffer: inout [UInt8]) {
        var divisor = digits == 4 ? 1_000 : 10
        while divisor > 0 {
            buffer.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
            divisor /= 10
        }
    }

    static let days: [String] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let months: [String] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}

extension HTTPDate: CustomStringConvertible {
    /// The IMF-fixdate.
    public var description: String {
        var buffer: [UInt8] = []
        buffer.reserveCapacity(Self.formattedCount)
        append(to: &buffer)
        return String(decoding: buffer, as: UTF8.self)
    }
}
