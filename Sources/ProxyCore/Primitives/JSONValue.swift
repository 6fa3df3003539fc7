// SPDX-License-Identifier: Apache-2.0

/// A JSON value (RFC 8259) whose objects keep the order of their members.
///
/// Settings need what Foundation's types do not offer: the order of declaration, refusal of duplicate names,
/// and the position of each value in the file.
indirect enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A number without fraction and exponent.
    case integer(Int)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// A name and its value.
    struct Member: Sendable, Equatable {
        var name: String
        var value: JSONValue
    }

    /// The member with this name; nil if there is none or this is not an object.
    subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The kind of the value, in the operator's words.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool: "true or false"
        case .integer, .number: "a number"
        case .string: "text"
        case .array: "a list"
        case .object: "an object"
        }
    }

    /// The value at a path of names and positions inside this one; nil if there is none.
    func inside(_ path: some Collection<String>) -> JSONValue? {
        guard let name = path.first else { return self }
        guard case .array(let values) = self else { return self[name]?.inside(path.dropFirst()) }
        guard let index = Int(name), values.indices.contains(index) else { return nil }
        return values[index].inside(path.dropFirst())
    }

    /// Returns a copy in which the value at `path` is `value`; itself if the path does not exist.
    func replacing(_ path: some Collection<String>, with value: JSONValue) -> JSONValue {
        guard let name = path.first else { return value }
        guard case .object(var members) = self, let index = members.firstIndex(where: { $0.name == name })
        else {
            return self
        }
        members[index].value = members[index].value.replacing(path.dropFirst(), with: value)
        return .object(members)
    }
}
