// SPDX-License-Identifier: Apache-2.0

/// Field lines in order, in the format in which they are sent.
///
/// `Content-Length`, `Transfer-Encoding` and `Connection` are the server's own, and are ignored here, so that
/// those of an origin's or a client's message never become those of this one.
public struct HTTPFields: Sendable, Hashable {
    /// `Name: value\r\n` for each line.
    private(set) var bytes: [UInt8] = []
    /// Where the first `Date` ends; nil if there is none, and the server adds one.
    private(set) var dateEnd: Int?

    /// Creates an empty list with capacity for so many octets.
    public init(reserving count: Int = 0) {
        if count > 0 { bytes.reserveCapacity(count) }
    }

    /// The number of octets so far.
    public var count: Int { bytes.count }

    /// Adds a line, also if there are others of its name.
    public mutating func append(_ name: FieldName, _ value: FieldValue) {
        guard !name.isFraming else { return }
        bytes += name.prefix
        bytes += value.bytes
        end(name)
    }

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

    /// Adds all lines of others; to none, without copying them.
    public mutating func append(_ fields: HTTPFields) {
        guard !bytes.isEmpty else { return self = fields }
        dateEnd = dateEnd ?? fields.dateEnd.map { bytes.count + $0 }
        bytes += fields.bytes
    }

    /// Replaces all lines of a name by one with a text for its value.
    public mutating func set(_ name: FieldName, text: String) {
        let lines = bytes.split(separator: Octet.lineFeed)
        self = HTTPFields()
        for line in lines where !name.begins(line) {
            bytes += line + [Octet.lineFeed]
            if FieldName.date.begins(line) { dateEnd = dateEnd ?? bytes.count }
        }
        append(name, text: text)
    }

    private mutating func end(_ name: FieldName) {
        bytes.append(Octet.carriageReturn)
        bytes.append(Octet.lineFeed)
        if name.isDate { dateEnd = dateEnd ?? bytes.count }
    }
}
