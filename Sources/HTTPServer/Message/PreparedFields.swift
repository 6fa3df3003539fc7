// SPDX-License-Identifier: Apache-2.0

/// Field lines encoded once and copied into many answers.
public final class PreparedFields: Sendable {
    /// `Name: value\r\n` for each line.
    let bytes: [UInt8]
    /// Whether a `Date` is among them.
    let isDated: Bool

    /// Encodes `fields`.
    public convenience init(_ fields: HTTPFields) {
        var lines = FieldLines(reserving: 0)
        lines.append(fields)
        self.init(lines)
    }

    /// The bytes of memory that the lines take.
    public var memoryBytes: Int { bytes.capacity }

    /// The same lines in no more memory than they need.
    public var compact: PreparedFields { PreparedFields(bytes: Array(bytes[...]), isDated: isDated) }

    private init(bytes: [UInt8], isDated: Bool) {
        (self.bytes, self.isDated) = (bytes, isDated)
    }

    /// Stores lines unchanged.
    public init(_ lines: FieldLines) {
        bytes = lines.bytes
        isDated = lines.dateEnd != nil
    }

    /// Stores the first `count` octets of the lines, where one of them ends.
    public init(_ lines: FieldLines, first count: Int) {
        bytes = Array(lines.bytes[..<count])
        isDated = lines.dateEnd.map { $0 <= count } ?? false
    }
}
