// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text as a JSON string, with its quotes (RFC 8259 §7).
    ///
    /// All controls are escaped, also those beyond ASCII, which a terminal obeys.
    package var jsonQuoted: String {
        var result = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case ..<" ", "\u{7F}"..."\u{9F}": result += scalar.jsonEscape
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

extension Unicode.Scalar {
    /// `\u` and four hexadecimal digits, for a scalar below U+10000.
    package var jsonEscape: String { "\\u" + String(value + 0x10000, radix: 16).suffix(4) }
}

/// Decodes each `%HH` once (RFC 3986 §2.1); a `%` without two digits stays, and the place of the first is returned.
package func percentDecoded(_ text: some Sequence<UInt8>) -> (bytes: [UInt8], malformedAt: Int?) {
    let text = Array(text)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var malformedAt: Int?
    var place = 0
    while place < text.count {
        if text[place] != UInt8(ascii: "%") {
            bytes.append(text[place])
        } else if place + 2 < text.count, let high = hexDigit(text[place + 1]),
            let low = hexDigit(text[place + 2])
        {
            bytes.append(high << 4 | low)
            place += 2
        } else {
            malformedAt = malformedAt ?? place
            bytes.append(text[place])
        }
        place += 1
    }
    return (bytes, malformedAt)
}

/// The value of a hexadecimal digit in either case.
package func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}
