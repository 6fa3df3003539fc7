// SPDX-License-Identifier: Apache-2.0

/// A few field lines built in place for one answer, without allocation. A line that does not fit is omitted
/// whole, and so is one that `HTTPFields` does not accept.
public struct FieldScratch: Sendable {
    private var storage = InlineArray<256, UInt8>(repeating: 0)
    private(set) var count = 0

    /// Creates an empty list.
    public init() {}

    /// Hot path: adds a number.
    public mutating func append(_ name: FieldName, integer: Int64) {
        append(name, "", integer: integer, "")
    }

    /// Hot path: adds fixed text, a number, fixed text.
    ///
    /// The texts are literals of the source, which no request influences; a debug build stops at one that is
    /// not a field value.
    @inline(__always)
    public mutating func append(
        _ name: FieldName, _ before: StaticString, integer: Int64, _ after: StaticString
    ) {
        assert(Self.isFieldText(before) && Self.isFieldText(after), "no field value: \(before)…\(after)")
        let most = before.utf8CodeUnitCount + OctetWriter.maxDigits + after.utf8CodeUnitCount
        append(name, valueOf: most) { writer in
            writer.put(before)
            writer.put(integer)
            writer.put(after)
        }
    }

    /// Hot path: lends the lines.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        unsafe storage.span.withUnsafeBytes { unsafe body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    /// Adds a line whose value has at most `length` octets.
    @inline(__always)
    private mutating func append(
        _ name: FieldName, valueOf length: Int, _ write: (inout OctetWriter) -> Void
    ) {
        guard !name.isFraming, count + name.prefix.count + length + 2 <= storage.count else { return }
        let start = count
        var span = storage.mutableSpan
        count = unsafe span.withUnsafeMutableBytes { memory in
            var writer = unsafe OctetWriter(memory, from: start)
            writer.put(name.prefix)
            write(&writer)
            writer.put("\r\n")
            return writer.count
        }
    }

    private static func isFieldText(_ text: StaticString) -> Bool {
        unsafe UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
            .allSatisfy(Octet.isFieldText)
    }
}
