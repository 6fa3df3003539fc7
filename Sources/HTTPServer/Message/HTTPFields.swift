// SPDX-License-Identifier: Apache-2.0

/// Field lines in order.
public struct HTTPFields: Sendable, Hashable {
    private(set) var lines: [Line] = []

    struct Line: Sendable, Hashable {
        var name: FieldName
        var value: FieldValue
    }

    /// No field.
    public init() {}

    /// Adds a line, whatever others of its name there are.
    public mutating func append(_ name: FieldName, _ value: FieldValue) {
        lines.append(Line(name: name, value: value))
    }

    /// Adds all lines of others.
    public mutating func append(_ fields: HTTPFields) {
        lines += fields.lines
    }

    /// Puts one line in place of all of its name.
    public mutating func set(_ name: FieldName, _ value: FieldValue) {
        lines.removeAll { $0.name == name }
        append(name, value)
    }
}
