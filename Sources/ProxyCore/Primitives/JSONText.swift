// SPDX-License-Identifier: Apache-2.0

extension JSONValue {
    /// Writes the value on one line.
    package var compact: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .string(let value): value.quotedJSON
        case .array(let values): "[" + values.map(\.compact).joined(separator: ", ") + "]"
        case .object(let members):
            "{" + members.map { "\($0.name.quotedJSON): \($0.value.compact)" }.joined(separator: ", ") + "}"
        }
    }

    /// Writes the value with a line for each member of an object, indented by two spaces; lists stay on one line.
    package func pretty(indentation: String = "") -> String {
        guard case .object(let members) = self, !members.isEmpty else { return compact }
        let inner = indentation + "  "
        let lines = members.map { inner + $0.name.quotedJSON + ": " + $0.value.pretty(indentation: inner) }
        return "{\n" + lines.joined(separator: ",\n") + "\n" + indentation + "}"
    }
}

extension String {
    /// The text as a JSON string, with quotes, backslashes and control characters escaped.
    package var quotedJSON: String {
        // Most texts are plain.
        if utf8.allSatisfy({ (0x20..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C }) {
            return "\"\(self)\""
        }
        var result = "\""
        for scalar in unicodeScalars {
            switch scalar.value {
            case 0x22: result += "\\\""
            case 0x5C: result += "\\\\"
            case 0x0A: result += "\\n"
            case ..<0x20, 0x7F...0x9F: result += scalar.escapedJSON
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

extension Unicode.Scalar {
    /// The escape of a character of the first 65,536: `\u00e9`.
    package var escapedJSON: String {
        let digits = String(value, radix: 16)
        return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
