// SPDX-License-Identifier: Apache-2.0

/// A length of time, written in configuration as seconds or as text with a unit: `"15s"`, `"250ms"`, `"7d"`.
///
/// Units: ms, s, m, h, d. Stored in milliseconds, never negative.
package struct TimeSpan: Sendable, Hashable, Comparable {
    /// The length in milliseconds.
    package let milliseconds: Int

    /// Wraps `milliseconds`; a negative length becomes zero.
    package init(milliseconds: Int) {
        self.milliseconds = max(0, milliseconds)
    }

    /// Returns `count` milliseconds.
    package static func milliseconds(_ count: Int) -> TimeSpan { TimeSpan(milliseconds: count) }

    /// Returns `count` seconds.
    package static func seconds(_ count: Int) -> TimeSpan { TimeSpan(milliseconds: count * 1_000) }

    package static func minutes(_ count: Int) -> TimeSpan { .seconds(count * 60) }

    package static func hours(_ count: Int) -> TimeSpan { .minutes(count * 60) }

    package static func days(_ count: Int) -> TimeSpan { .hours(count * 24) }

    /// The length in whole seconds, rounded down.
    package var seconds: Int { milliseconds / 1_000 }

    /// The same length as the standard library's type.
    package var duration: Duration { .milliseconds(milliseconds) }

    /// Compares by length.
    package static func < (left: TimeSpan, right: TimeSpan) -> Bool { left.milliseconds < right.milliseconds }
}

extension TimeSpan: LosslessStringConvertible {
    private static let units: [(suffix: String, milliseconds: Int)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
    ]

    /// Parses digits with a unit (none means seconds); nil for any other text, or if the product overflows.
    package init?(_ description: String) {
        let digits = description.prefix(while: { $0.isASCII && $0.isNumber })
        let suffix = description.dropFirst(digits.count)
        guard let count = Int(digits) else { return nil }
        guard
            let unit = Self.units.first(where: { $0.suffix == suffix })
                ?? (suffix.isEmpty ? ("", 1_000) : nil)
        else { return nil }
        let (product, overflow) = count.multipliedReportingOverflow(by: unit.milliseconds)
        guard !overflow else { return nil }
        self.init(milliseconds: product)
    }

    /// The largest unit that divides the length: `90s`, `2m`, `7d`.
    package var description: String {
        for unit in Self.units
        where milliseconds >= unit.milliseconds && milliseconds.isMultiple(of: unit.milliseconds) {
            return "\(milliseconds / unit.milliseconds)\(unit.suffix)"
        }
        return "0s"
    }
}

extension Duration {
    /// The length in whole microseconds.
    package var inMicroseconds: Int {
        Int(components.seconds) * 1_000_000 + Int(components.attoseconds / 1_000_000_000_000)
    }
}

extension TimeSpan: SettingNumber {
    package static let zero = TimeSpan(milliseconds: 0)
    /// The text with its unit.
    package var json: JSONValue { .string(description) }

    /// Reads whole seconds, or a text with a unit.
    package init(json: JSONValue) throws(SettingMismatch) {
        switch json {
        case .integer(let count) where (0...Int.max / 1_000).contains(count): self = .seconds(count)
        case .string(let text):
            guard let value = TimeSpan(text) else { fallthrough }
            self = value
        default: throw SettingMismatch("expected a duration such as 15, \"15s\", \"250ms\" or \"7d\"")
        }
    }
}
