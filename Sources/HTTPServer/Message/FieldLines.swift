// SPDX-License-Identifier: Apache-2.0

/// Field lines in the format in which they are sent: a prepared head, without a value for each line.
///
/// Accepts what `HTTPFields` accepts, and nothing else.
public struct FieldLines: Sendable {
    /// `Name: value\r\n` for each line.
    private(set) var bytes: [UInt8] = []
    /// Where the first `Date` ends; nil if there is none.
    private(set) var dateEnd: Int?

    /// Creates an empty list with capacity for so many octets.
    public init(reserving count: Int) {
        bytes.reserveCapacity(count)
    }

    /// The number of octets so far.
    public var count: Int { bytes.count }

    /// Adds a line whose value `write` appends; if that is not a field value, the whole line is omitted.
    public mutating func append(_ name: FieldName, _ write: (inout [UInt8]) -> Void) {
        guard !name.isFraming else { return }
        let start = bytes.count
        bytes += name.prefix
        let value = bytes.count
        write(&bytes)
        guard FieldValue.isValid(bytes[value...]) else {
            bytes.removeLast(bytes.count - start)
            return
        }
        end(name)
    }

    /// Adds a line with a text for its value, in the same way.
    public mutating func append(_ name: FieldName, text: String) {
        append(name) { $0 += text.utf8 }
    }

    /// Adds all lines of others.
    public mutating func append(_ fields: HTTPFields) {
        for line in fields.lines {
            bytes += line.name.prefix
            bytes += line.value.bytes
            end(line.name)
        }
    }

    /// Adds lines that were prepared earlier.
    public mutating func append(_ fields: PreparedFields) {
        bytes += fields.bytes
        if fields.isDated, dateEnd == nil { dateEnd = bytes.count }
    }

    private mutating func end(_ name: FieldName) {
        bytes.append(UInt8(ascii: "\r"))
        bytes.append(UInt8(ascii: "\n"))
        if name.isDate, dateEnd == nil { dateEnd = bytes.count }
    }
}
