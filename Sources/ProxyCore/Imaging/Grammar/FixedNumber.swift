// SPDX-License-Identifier: Apache-2.0

import Primitives

/// A decimal number with at most three decimals, stored exactly.
package struct FixedNumber: Sendable, Hashable, Comparable {
    /// The number × 1,000.
    let thousandths: Int

    private static let scale = 1_000
    private static let decimals = 3
    /// The maximum number of digits before the point; every range of the grammar is smaller.
    private static let integerDigits = 9

    /// Wraps a whole number.
    init(_ whole: Int) {
        thousandths = whole * Self.scale
    }

    /// Wraps a number of thousandths.
    init(thousandths: Int) {
        self.thousandths = thousandths
    }

    /// Rounds `value` half up to three decimals.
    init(rounding value: Double) {
        thousandths = Int((value * Double(Self.scale) + 0.5).rounded(.down))
    }

    /// Parses digits, with an optional minus before them and an optional point with one to three digits after
    /// them.
    init?(_ text: Substring.UTF8View) {
        let isNegative = text.first == UInt8(ascii: "-")
        let parts = text.dropFirst(isNegative ? 1 : 0).split(
            separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first.flatMap({ Self.digits($0, atMost: Self.integerDigits) }) else {
            return nil
        }
        var fraction = 0
        if parts.count == 2 {
            guard var value = Self.digits(parts[1], atMost: Self.decimals) else { return nil }
            for _ in parts[1].count..<Self.decimals { value *= 10 }
            fraction = value
        }
        let magnitude = whole * Self.scale + fraction
        thousandths = isNegative ? -magnitude : magnitude
    }

    private static func digits(_ text: Substring.UTF8View, atMost count: Int) -> Int? {
        guard !text.isEmpty, text.count <= count else { return nil }
        var value = 0
        for byte in text {
            guard byte.isASCIIDigit else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return value
    }

    /// The nearest floating-point value.
    var double: Double { Double(thousandths) / Double(Self.scale) }

    /// Returns the product, rounded half up to three decimals.
    func scaled(by factor: Double) -> FixedNumber {
        FixedNumber(rounding: double * factor)
    }

    package static func < (left: FixedNumber, right: FixedNumber) -> Bool {
        left.thousandths < right.thousandths
    }
}

extension FixedNumber: ExpressibleByIntegerLiteral {
    package init(integerLiteral whole: Int) { self.init(whole) }
}

extension FixedNumber: CustomStringConvertible {
    /// The shortest spelling: no plus, no leading or trailing zeros.
    package var description: String {
        let magnitude = abs(thousandths)
        let sign = thousandths < 0 ? "-" : ""
        let fraction = magnitude % Self.scale
        guard fraction != 0 else { return "\(sign)\(magnitude / Self.scale)" }
        var digits = String(fraction)
        digits = String(repeating: "0", count: Self.decimals - digits.count) + digits
        while digits.last == "0" { digits.removeLast() }
        return "\(sign)\(magnitude / Self.scale).\(digits)"
    }
}
