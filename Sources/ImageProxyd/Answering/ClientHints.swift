// SPDX-License-Identifier: Apache-2.0

internal import HTTPServer

/// What browsers say of their screens when they are asked to (RFC 8942). Configuration: `http.clientHints`.
struct ClientHints: Sendable {
    /// Whether they are asked and believed.
    let areOn: Bool

    /// Ratios that are told apart, so that screens of nearly the same kind share an image.
    private static let step = 0.25
    /// What `dpr` may be.
    private static let range = 0.5...8.0

    /// Hot path: the device pixel ratio of the request's screen; nil without one that makes sense.
    func dpr(of request: HTTPRequest) -> Double? {
        guard areOn, request.has(.secCHDPR) else { return nil }
        // Several lines are a list, which is no decimal.
        let ratio = unsafe request.withCombinedValue(of: .secCHDPR) { unsafe Self.ratio($0) } ?? nil
        return ratio.map { ratio in
            let rounded = (ratio / Self.step).rounded() * Self.step
            return min(max(rounded, Self.range.lowerBound), Self.range.upperBound)
        }
    }

    /// A structured field's decimal: at most 12 digits, a point, three more (RFC 9651 §3.3.2).
    private static func ratio(_ text: UnsafeRawBufferPointer) -> Double? {
        guard (1...16).contains(text.count) else { return nil }
        var value = 0.0
        var scale = 0.0
        for index in 0..<text.count {
            let byte = unsafe text[index]
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                value = value * 10 + Double(byte - UInt8(ascii: "0"))
                scale *= 10
            case UInt8(ascii: ".") where scale == 0: scale = 1
            default: return nil
            }
        }
        // No screen has none.
        guard value > 0 else { return nil }
        return scale > 0 ? value / scale : value
    }
}

extension FieldName {
    /// `Accept-CH` (RFC 8942 §3.1).
    static let acceptCH = FieldName(literal: "Accept-CH")
    /// `Cache-Tag`.
    static let cacheTag = FieldName(literal: "Cache-Tag")
}
