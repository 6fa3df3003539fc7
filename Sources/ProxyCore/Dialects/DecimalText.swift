// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Numbers in the URLs of other proxies.
enum DecimalText {
    /// A number as our grammar writes it; what has more than nine digits before the point is cut to them.
    static func text(_ number: Double) -> String {
        OperationText.decimal(min(max(number, -999_999_999), 999_999_999))
    }

    /// Reads digits with an optional sign and an optional point, as other proxies do: no exponent, no word such
    /// as `nan`; at most fifteen characters, so that it fits any integer.
    static func number(_ text: some StringProtocol) -> Double? {
        let digits = text.utf8.drop { $0 == UInt8(ascii: "-") }
        guard text.utf8.count <= 15, text.utf8.count - digits.count <= 1,
            digits.allSatisfy({ $0.isASCIIDigit || $0 == UInt8(ascii: ".") })
        else { return nil }
        return Double(String(text))
    }
}
