// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Turns settings into a JSON value whose members are in the order of their declaration; `nil` becomes
/// `null`.
struct SettingsEncoder {
    /// Encodes a whole tree of settings.
    /// - Throws: what a type's own `encode(to:)` throws.
    static func encode(_ value: some Encodable) throws -> JSONValue {
        let node = Node()
        try value.encode(to: TreeEncoder(node: node, codingPath: []))
        return node.json
    }

    /// A value that is being filled in; a class because containers and their parents share it.
    fileprivate final class Node {
        var value: JSONValue = .null
        var members: [(name: String, node: Node)]?
        var elements: [Node]?

        var json: JSONValue {
            if let members {
                return .object(members.map { JSONValue.Member(name: $0.name, value: $0.node.json) })
            }
            return elements.map { .array($0.map(\.json)) } ?? value
        }

        func member(_ name: String) -> Node {
            let node = Node()
            members = (members ?? []) + [(name, node)]
            return node
        }

        func element() -> Node {
            let node = Node()
            elements = (elements ?? []) + [node]
            return node
        }

        func set(_ value: some Encodable, codingPath: [any CodingKey]) throws {
            switch value {
            case let value as Bool: self.value = .bool(value)
            case let value as String: self.value = .string(value)
            case let value as Double: self.value = .number(value)
            case let value as any BinaryInteger: self.value = .integer(Int(value))
            default: try value.encode(to: TreeEncoder(node: self, codingPath: codingPath))
            }
        }
    }

    fileprivate struct TreeEncoder: Encoder {
        let node: Node
        let codingPath: [any CodingKey]
        var userInfo: [CodingUserInfoKey: Any] { [:] }

        func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
            node.members = node.members ?? []
            return KeyedEncodingContainer(Members<Key>(node: node, codingPath: codingPath))
        }

        func unkeyedContainer() -> any UnkeyedEncodingContainer {
            node.elements = node.elements ?? []
            return Elements(node: node, codingPath: codingPath)
        }

        func singleValueContainer() -> any SingleValueEncodingContainer {
            Single(node: node, codingPath: codingPath)
        }
    }

    private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let node: Node
        let codingPath: [any CodingKey]

        mutating func encodeNil(forKey key: Key) { _ = node.member(key.stringValue) }

        mutating func encode(_ value: some Encodable, forKey key: Key) throws {
            try node.member(key.stringValue).set(value, codingPath: codingPath + [key])
        }

        // A nil is written as null: an omitted key would count as unknown.
        mutating func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws {
            guard let value else { return encodeNil(forKey: key) }
            try encode(value, forKey: key)
        }

        mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try optional(value, key) }
        mutating func encodeIfPresent(_ value: String?, forKey key: Key) throws { try optional(value, key) }
        mutating func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try optional(value, key) }
        mutating func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try optional(value, key) }

        private mutating func optional(_ value: (some Encodable)?, _ key: Key) throws {
            guard let value else { return encodeNil(forKey: key) }
            try encode(value, forKey: key)
        }

        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) -> KeyedEncodingContainer<Nested> {
            TreeEncoder(node: node.member(key.stringValue), codingPath: codingPath + [key])
                .container(keyedBy: type)
        }

        mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            TreeEncoder(node: node.member(key.stringValue), codingPath: codingPath + [key]).unkeyedContainer()
        }

        mutating func superEncoder() -> any Encoder {
            TreeEncoder(node: node.member("super"), codingPath: codingPath)
        }

        mutating func superEncoder(forKey key: Key) -> any Encoder {
            TreeEncoder(node: node.member(key.stringValue), codingPath: codingPath + [key])
        }
    }

    private struct Elements: UnkeyedEncodingContainer {
        let node: Node
        let codingPath: [any CodingKey]
        var count: Int { node.elements?.count ?? 0 }

        mutating func encodeNil() { _ = node.element() }

        mutating func encode(_ value: some Encodable) throws {
            try node.element().set(value, codingPath: codingPath)
        }

        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type
        ) -> KeyedEncodingContainer<Nested> {
            TreeEncoder(node: node.element(), codingPath: codingPath).container(keyedBy: type)
        }

        mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
            TreeEncoder(node: node.element(), codingPath: codingPath).unkeyedContainer()
        }

        mutating func superEncoder() -> any Encoder {
            TreeEncoder(node: node.element(), codingPath: codingPath)
        }
    }

    private struct Single: SingleValueEncodingContainer {
        let node: Node
        let codingPath: [any CodingKey]

        mutating func encodeNil() { node.value = .null }

        mutating func encode(_ value: some Encodable) throws {
            switch value {
            // RawRepresentable's own encode(to:) ends here with its raw value, so no recursion is possible.
            case let value as Bool: node.value = .bool(value)
            case let value as String: node.value = .string(value)
            case let value as Double: node.value = .number(value)
            case let value as any BinaryInteger: node.value = .integer(Int(value))
            default: try value.encode(to: TreeEncoder(node: node, codingPath: codingPath))
            }
        }
    }
}
