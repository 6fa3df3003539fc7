// SPDX-License-Identifier: Apache-2.0

/// Field lines in order.
///
/// `Content-Length`, `Transfer-Encoding` and `Connection` are the server's own, and are ignored here, so that
/// those of an origin's or a client's message never become those of this one.
public struct HTTPFields: Sendable, Hashable {
    private(set) var lines: [Line] = []

    struct Line: Sendable, Hashable {
        var name: FieldName
        var value: FieldValue
    }

    /// Creates an empty list.
    public init() {}

    /// Whether it contains a `Date`: the server then adds none.
    var isDated: Bool { lines.contains { $0.name.isDate } }

    /// Adds a line, also if there are others of its name.
    public mutating func append(_ name: FieldName, _ value: FieldValue) {
        guard !name.isFraming else { return }
        lines.append(Line(name: name, value: value))
    }

    /// Adds all lines of others; to none, without copying them.
    public mutating func append(_ fields: HTTPFields) {
        if lines.isEmpty { lines = fields.lines } else { lines += fields.lines }
    }

    /// Replaces all lines of a name by one.
    public mutating func set(_ name: FieldName, _ value: FieldValue) {
        lines.removeAll { $0.name == name }
        append(name, value)
    }
}
