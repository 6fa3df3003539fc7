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

    /// A structured field's number: up to 12 digits, maybe a point and up to three more (RFC 9651 §3.3.2), with parameters
    /// that say nothing here.
    private static func ratio(_ text: UnsafeRawBufferPointer) -> Double? {
        let number = unsafe text.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }
        let parts = unsafe number.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let areDigits = unsafe parts.allSatisfy { part in
            unsafe !part.isEmpty && part.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        }
        guard areDigits, unsafe parts.count <= 2, unsafe parts[0].count <= 12 else { return nil }
        if unsafe parts.count == 2, unsafe parts[1].count > 3 { return nil }
        let value = unsafe Double(String(decoding: number, as: UTF8.self))
        // No screen has none.
        return value.flatMap { $0 > 0 ? $0 : nil }
    }
}

extension FieldName {
    /// `Accept-CH` (RFC 8942 §3.1).
    static let acceptCH = FieldName(literal: "Accept-CH")
    /// `Cache-Tag`.
    static let cacheTag = FieldName(literal: "Cache-Tag")
}
