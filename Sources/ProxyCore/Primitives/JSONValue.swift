// SPDX-License-Identifier: Apache-2.0

/// A JSON value (RFC 8259) whose objects keep the order of their members.
///
/// Settings need what Foundation's types do not offer: the order of declaration, refusal of duplicate names,
/// and the position of each value in the file.
package indirect enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    /// A number without fraction and exponent.
    case integer(Int)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// A name and its value.
    package struct Member: Sendable, Hashable {
        package var name: String
        package var value: JSONValue

        /// Creates a member.
        package init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// The most that counts as a side of a picture, in pixels: what is calculated from it can't overflow.
    private static let maxSide = 1_000_000

    /// The member with this name as the side of a picture, in pixels; nil if it is no such number.
    package func side(_ name: String) -> Int? {
        guard case .integer(let side)? = self[name], (1...Self.maxSide).contains(side) else { return nil }
        return side
    }

    /// The member with this name; nil if there is none or this is not an object.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The kind of the value, in the operator's words.
    package var kind: String {
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
    package func inside(_ path: some Collection<String>) -> JSONValue? {
        guard let name = path.first else { return self }
        guard case .array(let values) = self else { return self[name]?.inside(path.dropFirst()) }
        guard let index = Int(name), values.indices.contains(index) else { return nil }
        return values[index].inside(path.dropFirst())
    }

    /// A list of texts.
    package static func strings(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }

    /// Returns a copy of this object in which the value at a path of names is `value`; objects that the path
    /// needs are added.
    package func setting(_ path: some Collection<String>, to value: JSONValue) -> JSONValue {
        guard let name = path.first else { return value }
        guard case .object(var members) = self else { return JSONValue.object([]).setting(path, to: value) }
        let index = members.firstIndex { $0.name == name } ?? members.endIndex
        let inner = (self[name] ?? .object([])).setting(path.dropFirst(), to: value)
        members.replaceSubrange(
            index..<min(index + 1, members.endIndex), with: [Member(name: name, value: inner)])
        return .object(members)
    }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
    /// Creates an object.
    package init(dictionaryLiteral members: (String, JSONValue)...) {
        self = .object(members.map { Member(name: $0.0, value: $0.1) })
    }
}
