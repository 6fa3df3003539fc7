// SPDX-License-Identifier: Apache-2.0

/// A request whose head has been checked. A value: may be kept beyond the call it was given to.
public struct HTTPRequest: Sendable {
    /// The method.
    public internal(set) var method = HTTPMethod.get
    /// Whether the client speaks HTTP/1.0.
    public internal(set) var isHTTP10 = false
    /// The collected content; empty for most requests.
    public internal(set) var body: [UInt8] = []
    /// When the head was complete, CLOCK_MONOTONIC in nanoseconds.
    public internal(set) var receivedAt: UInt64 = 0

    /// The head as received; ranges below index into it.
    var head: [UInt8] = []
    var targetRange = 0..<0
    var lines: [FieldRange] = []

    /// Where a field line's name and value lie.
    struct FieldRange: Sendable {
        var name: Range<Int>
        var value: Range<Int>
    }

    init() {}

    /// Hot path: lends the target's raw bytes: path and query, beginning with `/`, or `*`.
    public func withTarget<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try unsafe head.withUnsafeBytes { unsafe try body(UnsafeRawBufferPointer(rebasing: $0[targetRange])) }
    }

    /// The target; allocates.
    public var target: String { String(decoding: head[targetRange], as: UTF8.self) }

    /// Hot path: lends the first value of a field, without surrounding white space; nil without such a line.
    public func withFirstValue<Result>(
        of name: FieldName, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result? {
        try unsafe head.withUnsafeBytes { bytes in
            for line in lines where unsafe name.matches(UnsafeRawBufferPointer(rebasing: bytes[line.name])) {
                return unsafe try body(UnsafeRawBufferPointer(rebasing: bytes[line.value]))
            }
            return nil
        }
    }

    /// All values of a field, in order; allocates.
    public func values(of name: FieldName) -> [String] {
        lines.filter { line in unsafe head[line.name].withUnsafeBytes { unsafe name.matches($0) } }
            .map { String(decoding: head[$0.value], as: UTF8.self) }
    }
}
