// SPDX-License-Identifier: Apache-2.0

/// Field lines in order.
///
/// `Content-Length`, `Transfer-Encoding` and `Connection` are the server's own, and are not taken: what an origin or a
/// client said of its own message never ends up as what is said of this one.
public struct HTTPFields: Sendable, Hashable {
    private(set) var lines: [Line] = []

    struct Line: Sendable, Hashable {
        var name: FieldName
        var value: FieldValue
    }

    /// No field.
    public init() {}

    /// Whether a `Date` is among them: the server then adds none.
    var isDated: Bool { lines.contains { $0.name.isDate } }

    /// Adds a line, whatever others of its name there are.
    public mutating func append(_ name: FieldName, _ value: FieldValue) {
        guard !name.isFraming else { return }
        lines.append(Line(name: name, value: value))
    }

    /// Adds all lines of others; to none, without copying them.
    public mutating func append(_ fields: HTTPFields) {
        if lines.isEmpty { lines = fields.lines } else { lines += fields.lines }
    }

    /// Puts one line in place of all of its name.
    public mutating func set(_ name: FieldName, _ value: FieldValue) {
        lines.removeAll { $0.name == name }
        append(name, value)
    }
}
