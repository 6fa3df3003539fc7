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

/// The value of a hexadecimal digit in either case.
package func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}

extension String {
    /// The text as a value of a query: all but unreserved characters is percent-encoded (RFC 3986 §2.3).
    package var asQueryValue: String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count * 3)
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                bytes.append(byte)
            default:
                bytes.append(UInt8(ascii: "%"))
                bytes.append(digits[Int(byte >> 4)])
                bytes.append(digits[Int(byte & 15)])
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
