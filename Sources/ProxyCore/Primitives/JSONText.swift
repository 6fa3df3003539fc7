// SPDX-License-Identifier: Apache-2.0

extension JSONValue {
    /// Writes the value on one line.
    package var compact: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .string(let value): quoted(value)
        case .array(let values): "[" + values.map(\.compact).joined(separator: ", ") + "]"
        case .object(let members):
            "{" + members.map { "\(quoted($0.name)): \($0.value.compact)" }.joined(separator: ", ") + "}"
        }
    }

    /// Writes the value with a line for each member of an object, indented by two spaces; lists stay on one line.
    package func pretty(indentation: String = "") -> String {
        guard case .object(let members) = self, !members.isEmpty else { return compact }
        let inner = indentation + "  "
        let lines = members.map { inner + quoted($0.name) + ": " + $0.value.pretty(indentation: inner) }
        return "{\n" + lines.joined(separator: ",\n") + "\n" + indentation + "}"
    }
}

/// Writes a JSON string, escaping only what must be escaped.
private func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"": result += "\\\""
        case "\\": result += "\\\\"
        case "\n": result += "\\n"
        case "\t": result += "\\t"
        case "\r": result += "\\r"
        case _ where scalar.value < 0x20:
            let digits = String(scalar.value, radix: 16)
            result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: result.unicodeScalars.append(scalar)
        }
    }
    return result + "\""
}
