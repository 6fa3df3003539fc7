// SPDX-License-Identifier: Apache-2.0

/// The members of a JSON object, of which some are optional and unknown ones are an error.
struct StrictMembers {
    private let container: KeyedDecodingContainer<AnyKey>

    init(_ decoder: any Decoder, knowing names: [String]) throws {
        container = try decoder.container(keyedBy: AnyKey.self)
        if let unknown = container.allKeys.first(where: { !names.contains($0.stringValue) }) {
            throw complaint(
                unknown.stringValue, "unknown key; expected one of \(names.joined(separator: ", "))")
        }
    }

    /// A member's value; nil if it is absent or null.
    func value<Value: Decodable>(_ name: String) throws -> Value? {
        try container.decodeIfPresent(Value.self, forKey: AnyKey(name))
    }

    /// The value of a required member.
    func required<Value: Decodable>(_ name: String) throws -> Value {
        guard let value: Value = try value(name) else { throw complaint(name, "expected a value") }
        return value
    }

    /// A list of texts, or one text.
    func list(_ name: String) throws -> [String] {
        let key = AnyKey(name)
        guard container.contains(key), try !container.decodeNil(forKey: key) else { return [] }
        // The error that it is no text is dropped; the list's own error is reported.
        if let one = try? container.decode(String.self, forKey: key) { return [one] }
        return try container.decode([String].self, forKey: key)
    }

    /// The error of an invalid member.
    func complaint(_ name: String, _ text: String) -> DecodingError {
        .dataCorrupted(
            DecodingError.Context(codingPath: container.codingPath + [AnyKey(name)], debugDescription: text))
    }
}

/// The name of any member.
struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { return nil }
}
