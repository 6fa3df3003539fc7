// SPDX-License-Identifier: Apache-2.0

/// A requested range of a representation's bytes (RFC 9110 §14.1.2).
public enum ByteRange: Sendable, Hashable {
    /// `first-last`, both included.
    case closed(first: Int64, last: Int64)
    /// `first-`, to the end.
    case from(first: Int64)
    /// `-length`, the last bytes.
    case suffix(length: Int64)

    /// Parses one range; nil if it is malformed. A number that overflows becomes the largest one.
    init?(_ octets: Span<UInt8>, _ range: Range<Int>) {
        var dash = range.lowerBound
        while dash < range.upperBound, octets[dash] != UInt8(ascii: "-") { dash += 1 }
        guard dash < range.upperBound else { return nil }
        let (before, behind) = (range.lowerBound..<dash, (dash + 1)..<range.upperBound)
        switch (before.isEmpty, behind.isEmpty) {
        case (true, true): return nil
        case (true, false):
            guard let length = Self.number(octets, behind) else { return nil }
            self = .suffix(length: length)
        case (false, true):
            guard let first = Self.number(octets, before) else { return nil }
            self = .from(first: first)
        case (false, false):
            guard let first = Self.number(octets, before), let last = Self.number(octets, behind),
                first <= last
            else { return nil }
            self = .closed(first: first, last: last)
        }
    }

    private static func number(_ octets: Span<UInt8>, _ range: Range<Int>) -> Int64? {
        var number: Int64 = 0
        for index in range {
            guard let digit = Octet.digit(octets[index]) else { return nil }
            let (tenfold, overflows) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflowsToo) = tenfold.addingReportingOverflow(Int64(digit))
            number = overflows || overflowsToo ? .max : sum
        }
        return number
    }

    /// The offsets in a representation of `length` bytes; nil if the range can't be satisfied.
    ///
    /// Empty for a suffix of a representation without bytes, which is satisfiable (RFC 9110 §14.1.2).
    public func offsets(in length: Int64) -> Range<Int64>? {
        switch self {
        case .closed(let first, let last):
            first < length ? first..<(min(last, length - 1) + 1) : nil
        case .from(let first):
            first < length ? first..<length : nil
        case .suffix(let suffix):
            suffix > 0 ? max(0, length - suffix)..<length : nil
        }
    }
}
