// SPDX-License-Identifier: Apache-2.0

/// Numbers as our grammar writes them.
enum DecimalText {
    /// A number with at most three decimals, rounded half away from zero, without needless zeros.
    ///
    /// - Parameter number: of at most nine digits before the point; what is beyond is cut to them.
    static func text(_ number: Double) -> String {
        let bounded = min(max(number, -999_999_999), 999_999_999)
        let thousandths = Int((bounded * 1_000).rounded())
        let magnitude = abs(thousandths)
        let sign = thousandths < 0 ? "-" : ""
        guard magnitude % 1_000 != 0 else { return "\(sign)\(magnitude / 1_000)" }
        var digits = String(magnitude % 1_000 + 1_000).dropFirst()
        while digits.last == "0" { digits.removeLast() }
        return "\(sign)\(magnitude / 1_000).\(digits)"
    }

    /// Reads digits with an optional sign and an optional point, as other proxies do: no exponent, no word such
    /// as `nan`; at most fifteen characters, so that it fits any integer.
    static func number(_ text: some StringProtocol) -> Double? {
        let digits = text.utf8.drop { $0 == UInt8(ascii: "-") }
        guard text.utf8.count <= 15, text.utf8.count - digits.count <= 1,
            digits.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") })
        else { return nil }
        return Double(String(text))
    }
}
