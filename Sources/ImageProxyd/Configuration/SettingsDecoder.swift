// SPDX-License-Identifier: Apache-2.0

import Imaging
import Primitives

/// Turns a JSON value into settings; its errors say what is allowed.
struct SettingsDecoder {
    /// Decodes a whole tree of settings.
    /// - Throws: `DecodingError` with the path of the first value that does not fit, and what would.
    static func decode<Value: Decodable>(_ type: Value.Type, from json: JSONValue) throws -> Value {
        try value(type, from: json, at: [])
    }

    /// The whole value that a decoder of settings reads.
    static func json(of decoder: any Decoder) -> JSONValue? { (decoder as? TreeDecoder)?.json }

    /// Decodes a part of a tree of settings.
    static func value<Value: Decodable>(
        _ type: Value.Type, from json: JSONValue, at path: [any CodingKey]
    ) throws -> Value {
        // As in the parameter `format`.
        if type == ImageFormat.self, json == .string("jpg") {
            return try value(type, from: .string("jpeg"), at: path)
        }
        if let value = try primitive(type, from: json, at: path) { return value }
        if let choices = choices(of: type) {
            guard case .string(let text) = json, choices.contains(text) else {
                throw mismatch("one of " + choices.joined(separator: ", "), at: path)
            }
        }
        return try Value(from: TreeDecoder(json: json, codingPath: path))
    }

    private static func primitive<Value>(
        _ type: Value.Type, from json: JSONValue, at path: [any CodingKey]
    ) throws -> Value? {
        switch (type, json) {
        case (is Bool.Type, .bool(let value)): return value as? Value
        case (is String.Type, .string(let value)): return value as? Value
        case (is Double.Type, .number(let value)): return value as? Value
        case (is Double.Type, .integer(let value)): return Double(value) as? Value
        case (is Bool.Type, _): throw mismatch("true or false", at: path)
        case (is String.Type, _): throw mismatch("text", at: path)
        case (is Double.Type, _): throw mismatch("a number", at: path)
        case (let whole as any FixedWidthInteger.Type, _):
            return try integer(whole, from: json, at: path) as? Value
        default: return nil
        }
    }

    private static func integer<Whole: FixedWidthInteger>(
        _ type: Whole.Type, from json: JSONValue, at path: [any CodingKey]
    ) throws -> Whole {
        guard case .integer(let value) = json, let whole = Whole(exactly: value) else {
            throw mismatch("a whole number", at: path)
        }
        return whole
    }

    private static func choices<Value>(of type: Value.Type) -> [String]? {
        guard let list = type as? any (CaseIterable & RawRepresentable).Type else { return nil }
        return texts(list)
    }

    private static func texts<List: CaseIterable & RawRepresentable>(_ type: List.Type) -> [String]? {
        let texts = type.allCases.compactMap { $0.rawValue as? String }
        return texts.count == type.allCases.count ? texts : nil
    }

    static func mismatch(_ allowed: String, at path: [any CodingKey]) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: path, debugDescription: "expected " + allowed))
    }

    fileprivate struct TreeDecoder: Decoder {
        let json: JSONValue
        let codingPath: [any CodingKey]
        var userInfo: [CodingUserInfoKey: Any] { [:] }

        func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
            guard case .object(let members) = json else { throw mismatch("an object", at: codingPath) }
            return KeyedDecodingContainer(Members<Key>(members: members, codingPath: codingPath))
        }

        func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
            guard case .array(let values) = json else { throw mismatch("a list", at: codingPath) }
            return Elements(values: values, codingPath: codingPath)
        }

        func singleValueContainer() -> any SingleValueDecodingContainer {
            Single(json: json, codingPath: codingPath)
        }
    }

    private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let members: [JSONValue.Member]
        let codingPath: [any CodingKey]
        var allKeys: [Key] { members.compactMap { Key(stringValue: $0.name) } }

        func contains(_ key: Key) -> Bool { members.contains { $0.name == key.stringValue } }

        private func json(_ key: Key) throws -> JSONValue {
            guard let member = members.first(where: { $0.name == key.stringValue }) else {
                let context = DecodingError.Context(
                    codingPath: codingPath + [key], debugDescription: "expected a value")
                throw DecodingError.keyNotFound(key, context)
            }
            return member.value
        }

        func decodeNil(forKey key: Key) throws -> Bool { try json(key) == .null }

        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
            try value(type, from: json(key), at: codingPath + [key])
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) throws -> KeyedDecodingContainer<Nested> {
            try TreeDecoder(json: json(key), codingPath: codingPath + [key]).container(keyedBy: type)
        }

        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            try TreeDecoder(json: json(key), codingPath: codingPath + [key]).unkeyedContainer()
        }

        func superDecoder() throws -> any Decoder {
            TreeDecoder(json: .object(members), codingPath: codingPath)
        }

        func superDecoder(forKey key: Key) throws -> any Decoder {
            TreeDecoder(json: try json(key), codingPath: codingPath + [key])
        }
    }

    private struct Elements: UnkeyedDecodingContainer {
        let values: [JSONValue]
        let codingPath: [any CodingKey]
        var currentIndex = 0
        var count: Int? { values.count }
        var isAtEnd: Bool { currentIndex == values.count }

        private mutating func next() throws -> JSONValue {
            guard !isAtEnd else { throw mismatch("a longer list", at: codingPath) }
            defer { currentIndex += 1 }
            return values[currentIndex]
        }

        mutating func decodeNil() throws -> Bool {
            guard !isAtEnd, values[currentIndex] == .null else { return false }
            currentIndex += 1
            return true
        }

        mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            let path = codingPath + [ElementKey(index: currentIndex)]
            return try value(type, from: next(), at: path)
        }

        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type
        ) throws -> KeyedDecodingContainer<Nested> {
            try TreeDecoder(json: next(), codingPath: codingPath).container(keyedBy: type)
        }

        mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
            try TreeDecoder(json: next(), codingPath: codingPath).unkeyedContainer()
        }

        mutating func superDecoder() throws -> any Decoder {
            TreeDecoder(json: try next(), codingPath: codingPath)
        }
    }

    private struct Single: SingleValueDecodingContainer {
        let json: JSONValue
        let codingPath: [any CodingKey]

        func decodeNil() -> Bool { json == .null }

        func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            try value(type, from: json, at: codingPath)
        }
    }

    private struct ElementKey: CodingKey {
        let index: Int
        var intValue: Int? { index }
        var stringValue: String { "\(index)" }

        init(index: Int) { self.index = index }
        init?(intValue: Int) { index = intValue }
        init?(stringValue: String) { return nil }
    }
}
