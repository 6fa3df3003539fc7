// SPDX-License-Identifier: Apache-2.0

import HTTPServer

/// What browsers send about their screens on request (RFC 8942). Configuration: `http.clientHints`.
package struct ClientHints: Sendable {
    /// Whether hints are requested and used.
    let areOn: Bool

    /// The step between ratios, so that screens of nearly the same ratio share an image.
    private static let step = 0.25
    /// The accepted range of `dpr`.
    private static let range = 0.5...8.0

    package init(areOn: Bool) {
        self.areOn = areOn
    }

    /// Hot path: the device pixel ratio of the request's screen; nil without a valid one.
    func dpr(of request: HTTPRequest) -> Double? {
        guard areOn, request.has(.secCHDPR) else { return nil }
        // Several lines are a list, which is not a decimal.
        let ratio = unsafe request.withCombinedValue(of: .secCHDPR) { unsafe Self.ratio($0) } ?? nil
        return ratio.map { ratio in
            let rounded = (ratio / Self.step).rounded() * Self.step
            return min(max(rounded, Self.range.lowerBound), Self.range.upperBound)
        }
    }

    /// Hot path: parses a structured field's number: up to 12 digits, optionally a point and up to three more
    /// (RFC 9651 §3.3.2); parameters are ignored. Allocates nothing.
    private static func ratio(_ text: UnsafeRawBufferPointer) -> Double? {
        var (value, scale) = (0.0, 1.0)
        var (digits, decimals): (Int, Int?) = (0, nil)
        for index in text.indices {
            let byte = unsafe text[index]
            if byte == UInt8(ascii: ";") || byte == UInt8(ascii: " ") { break }
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                value = value * 10 + Double(byte - UInt8(ascii: "0"))
                if let count = decimals { (decimals, scale) = (count + 1, scale * 10) } else { digits += 1 }
            case UInt8(ascii: ".") where decimals == nil: decimals = 0
            default: return nil
            }
        }
        // A ratio needs at least one digit.
        guard (1...12).contains(digits), (1...3).contains(decimals ?? 1), value > 0 else { return nil }
        return value / scale
    }
}

extension FieldName {
    /// `Accept-CH` (RFC 8942 §3.1).
    static let acceptCH = FieldName(literal: "Accept-CH")
}
