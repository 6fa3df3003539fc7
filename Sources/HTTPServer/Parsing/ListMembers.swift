// SPDX-License-Identifier: Apache-2.0

/// Iterates over a comma-separated list without quoted strings; empty members are skipped (RFC 9110
/// §5.6.1.2).
struct ListMembers {
    private var rest: Range<Int>

    init(_ value: Range<Int>) {
        rest = value
    }

    /// Hot path: the next member, without the white space around it.
    mutating func next(in octets: Span<UInt8>) -> Range<Int>? {
        while !rest.isEmpty {
            var comma = rest.lowerBound
            while comma < rest.upperBound, octets[comma] != UInt8(ascii: ",") { comma += 1 }
            let member = octets.trimmed(rest.lowerBound..<comma)
            rest = min(comma + 1, rest.upperBound)..<rest.upperBound
            if !member.isEmpty { return member }
        }
        return nil
    }
}
