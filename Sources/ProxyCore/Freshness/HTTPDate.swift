// SPDX-License-Identifier: Apache-2.0

import Primitives

/// A point in time in HTTP: whole seconds, GMT (RFC 9110 §5.6.7).
package struct HTTPDate: Sendable, Hashable, Comparable {
    /// Seconds since 1970, leap seconds not counted.
    package let seconds: Int64

    /// Wraps seconds since 1970.
    package init(seconds: Int64) {
        self.seconds = seconds
    }

    /// Earlier comes first.
    package static func < (left: HTTPDate, right: HTTPDate) -> Bool { left.seconds < right.seconds }

    /// Bytes of an IMF-fixdate.
    static let formattedCount = 29

    /// Appends `Sun, 06 Nov 1994 08:49:37 GMT` (IMF-fixdate) to `buffer`.
    ///
    /// Years beyond 0–9999 are pinned to that range.
    package func append(to buffer: inout [UInt8]) {
        let octets = self.octets
        unsafe octets.span.withUnsafeBufferPointer { unsafe buffer.append(contentsOf: $0) }
    }

    /// The IMF-fixdate.
    private var octets: InlineArray<29, UInt8> {
        let calendar = CalendarTime(seconds: seconds)
        var octets = InlineArray<29, UInt8>(repeating: UInt8(ascii: " "))
        for place in 0..<3 {
            octets[place] = Self.dayLetters[calendar.weekday * 3 + place]
            octets[8 + place] = Self.monthLetters[(calendar.month - 1) * 3 + place]
            octets[26 + place] = Self.zone[place]
        }
        func put(_ number: Int, at place: Int) {
            octets[place] = UInt8(ascii: "0") + UInt8(number / 10)
            octets[place + 1] = UInt8(ascii: "0") + UInt8(number % 10)
        }
        octets[3] = UInt8(ascii: ",")
        put(calendar.day, at: 5)
        put(calendar.year / 100, at: 12)
        put(calendar.year % 100, at: 14)
        put(calendar.hour, at: 17)
        octets[19] = UInt8(ascii: ":")
        put(calendar.minute, at: 20)
        octets[22] = UInt8(ascii: ":")
        put(calendar.second, at: 23)
        return octets
    }

    private static let zone = Array("GMT".utf8)
    static let days: [String] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let months: [String] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let dayLetters = Array(days.joined().utf8)
    private static let monthLetters = Array(months.joined().utf8)
}

extension HTTPDate: CustomStringConvertible {
    /// The IMF-fixdate.
    package var description: String {
        var buffer: [UInt8] = []
        buffer.reserveCapacity(Self.formattedCount)
        append(to: &buffer)
        return String(decoding: buffer, as: UTF8.self)
    }
}
