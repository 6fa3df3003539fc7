// SPDX-License-Identifier: Apache-2.0

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

/// Decodes each `%HH` once; nil for a malformed escape or invalid UTF-8.
package func percentDecodedText(_ text: some StringProtocol) -> String? {
    let (bytes, fault) = percentDecoded(text.utf8)
    return fault == nil ? String(validating: bytes, as: UTF8.self) : nil
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

extension UInt8 {
    /// Whether it is an ASCII digit.
    @inlinable
    package var isASCIIDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// Whether it is an ASCII letter.
    package var isASCIILetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

    /// Whether it is an ASCII letter or digit.
    package var isASCIIAlphanumeric: Bool { isASCIILetter || isASCIIDigit }

    /// Whether no URL needs it percent-encoded (RFC 3986 §2.3).
    package var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: isASCIIAlphanumeric
        }
    }

    /// As two lower-case hexadecimal digits.
    package var hexadecimal: String { [self].hexadecimal }

    /// The same as octets.
    package var hexadecimalDigits: (UInt8, UInt8) {
        func digit(_ value: UInt8) -> UInt8 {
            value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
        }
        return (digit(self >> 4), digit(self & 15))
    }

    /// As `%HH` in upper case (RFC 3986 §2.1).
    package var percentEncoded: [UInt8] {
        [UInt8(ascii: "%"), Self.upperCaseDigits[Int(self >> 4)], Self.upperCaseDigits[Int(self & 15)]]
    }

    private static let upperCaseDigits = Array("0123456789ABCDEF".utf8)
}

extension Sequence<UInt8> {
    /// A text in which the other bytes are percent-encoded.
    package func percentEncoded(except isPlain: (UInt8) -> Bool) -> String {
        String(decoding: flatMap { isPlain($0) ? [$0] : $0.percentEncoded }, as: UTF8.self)
    }
}

extension [UInt8] {
    /// The bytes that hexadecimal digits in either case say, two digits each; nil for anything else.
    package init?(hexadecimal text: some Collection<UInt8>) {
        let digits = text.compactMap(hexDigit)
        guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
        self = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

extension String {
    /// The text as a value of a query: all but unreserved characters is percent-encoded (RFC 3986 §2.3).
    package var asQueryValue: String { utf8.percentEncoded(except: \.isUnreserved) }
}
