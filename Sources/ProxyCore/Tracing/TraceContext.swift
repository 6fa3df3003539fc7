// SPDX-License-Identifier: Apache-2.0

/// What a request says of the trace that it is part of (W3C Trace Context).
package struct TraceContext: Sendable, Hashable {
    /// The trace's id; never 0.
    package let trace: UInt128
    /// The span of the caller; never 0.
    package let span: UInt64
    /// Whether the caller records its spans.
    let isSampled: Bool

    /// Reads a `traceparent` of version 00; nil if it is malformed.
    package init?(traceparent: String) {
        let parts = traceparent.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 4, parts.map(\.utf8.count) == [2, 32, 16, 2],
            let trace = UInt128(parts[1], radix: 16), let span = UInt64(parts[2], radix: 16),
            let flags = UInt8(parts[3], radix: 16), trace != 0, span != 0
        else { return nil }
        (self.trace, self.span, isSampled) = (trace, span, flags & 1 == 1)
    }
}

extension FixedWidthInteger {
    /// The number in hexadecimal digits that fill its width, as traces and spans are written.
    var digits: String {
        let text = String(self, radix: 16)
        return String(repeating: "0", count: bitWidth / 4 - text.utf8.count) + text
    }
}
