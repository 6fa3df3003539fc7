// SPDX-License-Identifier: Apache-2.0

/// Field lines that many answers share.
public final class PreparedFields: Sendable {
    /// `Name: value\r\n` for each line.
    let bytes: [UInt8]
    /// Whether a `Date` is among them.
    let isDated: Bool

    /// Stores lines.
    public convenience init(_ fields: HTTPFields) {
        self.init(bytes: fields.bytes, isDated: fields.dateEnd != nil)
    }

    /// Stores the first `count` octets of the lines, where one of them ends.
    public convenience init(_ fields: HTTPFields, first count: Int) {
        self.init(bytes: Array(fields.bytes[..<count]), isDated: fields.dateEnd.map { $0 <= count } ?? false)
    }

    private init(bytes: [UInt8], isDated: Bool) {
        (self.bytes, self.isDated) = (bytes, isDated)
    }

    /// The bytes of memory that the lines take.
    public var memoryBytes: Int { bytes.capacity }

    /// The same lines in no more memory than they need.
    public var compact: PreparedFields { PreparedFields(bytes: Array(bytes[...]), isDated: isDated) }
}
