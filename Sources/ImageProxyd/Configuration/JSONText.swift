// SPDX-License-Identifier: Apache-2.0

import Primitives

extension JSONValue {
    /// Writes the value on one line.
    var compact: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .string(let value): value.jsonQuoted
        case .array(let values): "[" + values.map(\.compact).joined(separator: ", ") + "]"
        case .object(let members):
            "{" + members.map { "\($0.name.jsonQuoted): \($0.value.compact)" }.joined(separator: ", ") + "}"
        }
    }

    /// Writes the value with a line for each member of an object, indented by two spaces; lists stay on one line.
    func pretty(indentation: String = "") -> String {
        guard case .object(let members) = self, !members.isEmpty else { return compact }
        let inner = indentation + "  "
        let lines = members.map { inner + $0.name.jsonQuoted + ": " + $0.value.pretty(indentation: inner) }
        return "{\n" + lines.joined(separator: ",\n") + "\n" + indentation + "}"
    }
}
