// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Numbers as other proxies write them, and as our grammar does.
enum NumberText {
    /// More digits than any option needs, and fewer than an integer has; a longer number is none.
    private static let maxDigits = 12
    /// The same for a number that may have a point: as many as it keeps exactly.
    private static let maxDecimals = 15

    /// A number as our grammar wants it, with at most three decimals; what has more than nine digits before the point is cut to
    /// them.
    static func text(_ number: Double) -> String {
        let thousandths = Int((min(abs(number), 999_999_999) * 1_000).rounded())
        let sign = number < 0 && thousandths > 0 ? "-" : ""
        var decimals = String(String(thousandths % 1_000 + 1_000).dropFirst())
        while decimals.last == "0" { decimals.removeLast() }
        return "\(sign)\(thousandths / 1_000)" + (decimals.isEmpty ? "" : ".\(decimals)")
    }

    /// A share of a side, 0…1 for all of it, as a percentage.
    static func percentage(_ share: Double) -> String { text(share * 100) + "pc" }

    /// The whole number that the text begins with, as C's `strtol` reads it, but for white space.
    static func leadingInteger(_ text: some StringProtocol) -> Int? {
        var rest = Substring(text).utf8
        let sign = takeSign(&rest)
        let digits = rest.prefix(while: \.isASCIIDigit)
        guard (1...maxDigits).contains(digits.count), let number = Int(Substring(digits)) else { return nil }
        return sign * number
    }

    /// The number that the text begins with: digits, and perhaps a point and more digits.
    static func leadingDecimal(_ text: some StringProtocol) -> Double? {
        var rest = Substring(text).utf8
        let sign = takeSign(&rest)
        let whole = rest.prefix(while: \.isASCIIDigit)
        rest = rest.dropFirst(whole.count)
        var fraction = rest.prefix(0)
        if rest.first == UInt8(ascii: ".") { fraction = rest.dropFirst().prefix(while: \.isASCIIDigit) }
        guard !whole.isEmpty || !fraction.isEmpty, whole.count <= maxDecimals else { return nil }
        let digits = "\(Substring(whole)).\(Substring(fraction.prefix(maxDecimals)))0"
        return Double("0" + digits).map { Double(sign) * $0 }
    }

    /// The number that the text is.
    static func integer(_ text: some StringProtocol) -> Int? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit) else { return nil }
        return leadingInteger(text)
    }

    /// The number that the text is: digits, and perhaps a point among them; no exponent, no word such as `nan`.
    static func decimal(_ text: some StringProtocol) -> Double? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        let points = digits.count { $0 == UInt8(ascii: ".") }
        guard points <= 1, digits.allSatisfy({ $0.isASCIIDigit || $0 == UInt8(ascii: ".") }) else {
            return nil
        }
        return leadingDecimal(text)
    }

    private static func takeSign(_ rest: inout Substring.UTF8View) -> Int {
        guard let first = rest.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") else {
            return 1
        }
        rest = rest.dropFirst()
        return first == UInt8(ascii: "-") ? -1 : 1
    }
}
