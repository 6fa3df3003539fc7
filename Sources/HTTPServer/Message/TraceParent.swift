// SPDX-License-Identifier: Apache-2.0

/// `traceparent`: version, trace id, parent id and flags in lower-case hexadecimal (W3C Trace Context §3.2).
enum TraceParent {
    /// The octets of version 00, the only one that is defined; later ones begin alike (Trace Context,
    /// "Versioning of traceparent").
    private static let length = 55
    private static let hyphens = [2, 35, 52]

    /// The trace's id; nil if the value is malformed: an id of zeros, version ff, capitals.
    static func traceID(_ value: UnsafeRawBufferPointer) -> UInt128? {
        guard value.count >= length else { return nil }
        for index in hyphens where unsafe value[index] != UInt8(ascii: "-") { return nil }
        guard let version: UInt8 = unsafe number(0..<2, of: value), version != 0xFF,
            unsafe value.count == length || version > 0 && value[length] == UInt8(ascii: "-"),
            let trace: UInt128 = unsafe number(3..<35, of: value), trace != 0,
            let parent: UInt64 = unsafe number(36..<52, of: value), parent != 0,
            let _: UInt8 = unsafe number(53..<55, of: value)
        else { return nil }
        return trace
    }

    /// The number in hexadecimal digits that fill it; nil if one of them is not a digit.
    private static func number<Number: FixedWidthInteger>(
        _ digits: Range<Int>, of value: UnsafeRawBufferPointer
    ) -> Number? {
        var number: Number = 0
        for index in digits {
            let octet = unsafe value[index]
            guard let digit = Octet.hexDigit(octet), Octet.lower(octet) == octet else { return nil }
            number = number << 4 | Number(digit)
        }
        return number
    }
}

extension HTTPRequest {
    /// Hot path: the id of the trace that the request is part of, from its only `traceparent`.
    ///
    /// Nil with two of them (Trace Context §4.3), and with a malformed one.
    public var traceID: UInt128? {
        guard has(known: .traceparent), !repeats(.traceparent) else { return nil }
        return unsafe withFirstValue(ofKnown: .traceparent) { unsafe TraceParent.traceID($0) } ?? nil
    }
}
