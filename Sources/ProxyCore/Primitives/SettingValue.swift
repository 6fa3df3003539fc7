// SPDX-License-Identifier: Apache-2.0

/// A type that a setting may have.
package protocol SettingValue: Sendable, Hashable {
    /// All values, where there are few; for the documentation.
    static var choices: [String] { get }
    /// The value as it is written.
    var json: JSONValue { get }
    /// Reads a value.
    init(json: JSONValue) throws(SettingMismatch)
}

/// A type of settings that have a range.
package protocol SettingNumber: SettingValue, Comparable {
    /// What may mean "none" or "chosen by the daemon".
    static var zero: Self { get }
}

/// Why a JSON value can't be a setting's.
package struct SettingMismatch: Error, Sendable, Hashable {
    /// One value that does not fit.
    package struct Fault: Sendable, Hashable {
        /// The names and positions that lead to it from the setting.
        package var path: [String] = []
        /// What is expected of it.
        package let text: String
    }

    /// The values that do not fit; never empty.
    package private(set) var faults: [Fault]

    /// The whole value does not fit; `text` says what is expected.
    package init(_ text: String) { faults = [Fault(text: text)] }

    private init(faults: [Fault]) { self.faults = faults }

    /// Reads the parts of a value, each with its name or position.
    /// - Throws: what does not fit in all of them.
    package static func collect<Part, Value>(
        _ parts: some Sequence<(name: String, part: Part)>,
        _ read: (Part) throws(SettingMismatch) -> Value
    ) throws(SettingMismatch) -> [Value] {
        var values: [Value] = []
        var faults: [Fault] = []
        for (name, part) in parts {
            do throws(SettingMismatch) {
                values.append(try read(part))
            } catch {
                faults += error.faults.map { Fault(path: [name] + $0.path, text: $0.text) }
            }
        }
        guard faults.isEmpty else { throw SettingMismatch(faults: faults) }
        return values
    }
}

extension SettingValue {
    /// Too many to list.
    package static var choices: [String] { [] }
}

extension SettingValue where Self: CaseIterable & RawRepresentable<String> {
    /// The words.
    package static var choices: [String] { allCases.map(\.rawValue) }
    /// The word.
    package var json: JSONValue { .string(rawValue) }

    /// Reads one of the words.
    package init(json: JSONValue) throws(SettingMismatch) { self = try Self.choice(json) }

    /// Returns the case that a word names.
    package static func choice(_ json: JSONValue) throws(SettingMismatch) -> Self {
        guard case .string(let word) = json, let value = Self(rawValue: word) else {
            throw SettingMismatch("expected one of " + choices.joined(separator: ", "))
        }
        return value
    }
}

extension Bool: SettingValue {
    package static let choices = ["true", "false"]
    package var json: JSONValue { .bool(self) }

    package init(json: JSONValue) throws(SettingMismatch) {
        guard case .bool(let value) = json else { throw SettingMismatch("expected true or false") }
        self = value
    }
}

extension Int: SettingNumber {
    package static let zero = 0
    package var json: JSONValue { .integer(self) }

    package init(json: JSONValue) throws(SettingMismatch) {
        guard case .integer(let value) = json else { throw SettingMismatch("expected a whole number") }
        self = value
    }
}

extension Double: SettingNumber {
    package static let zero = 0.0
    package var json: JSONValue { .number(self) }

    package init(json: JSONValue) throws(SettingMismatch) {
        switch json {
        case .number(let value): self = value
        case .integer(let value): self.init(value)
        default: throw SettingMismatch("expected a number")
        }
    }
}

extension String: SettingValue {
    package var json: JSONValue { .string(self) }

    package init(json: JSONValue) throws(SettingMismatch) {
        guard case .string(let value) = json else { throw SettingMismatch("expected text") }
        self = value
    }
}

extension Optional: SettingValue where Wrapped: SettingValue {
    package static var choices: [String] { Wrapped.choices }
    package var json: JSONValue { self?.json ?? .null }

    package init(json: JSONValue) throws(SettingMismatch) {
        self = json == .null ? nil : try Wrapped(json: json)
    }
}

extension Array: SettingValue where Element: SettingValue {
    package var json: JSONValue { .array(map(\.json)) }

    package init(json: JSONValue) throws(SettingMismatch) {
        guard case .array(let values) = json else { throw SettingMismatch("expected a list") }
        let parts = values.enumerated().map { (name: "\($0.offset)", part: $0.element) }
        self = try SettingMismatch.collect(parts) { (value) throws(SettingMismatch) in
            try Element(json: value)
        }
    }
}

extension Dictionary: SettingValue where Key == String, Value: SettingValue {
    /// An object with its names sorted.
    package var json: JSONValue {
        .object(sorted { $0.key < $1.key }.map { JSONValue.Member(name: $0.key, value: $0.value.json) })
    }

    package init(json: JSONValue) throws(SettingMismatch) {
        guard case .object(let members) = json else { throw SettingMismatch("expected an object") }
        let values = try SettingMismatch.collect(members.map { (name: $0.name, part: $0.value) }) {
            (value) throws(SettingMismatch) in try Value(json: value)
        }
        self = Dictionary(uniqueKeysWithValues: zip(members.map(\.name), values))
    }
}

/// A list of texts; one text may stand without the list.
package struct TextList: SettingValue {
    fileprivate let texts: [String]
    package var json: JSONValue { texts.json }

    fileprivate init(texts: [String]) { self.texts = texts }

    package init(json: JSONValue) throws(SettingMismatch) {
        if case .string(let text) = json {
            texts = [text]
        } else {
            texts = try [String](json: json)
        }
    }
}

extension [String] {
    /// The list as a setting that may be one text.
    package var texts: TextList {
        get { TextList(texts: self) }
        set { self = newValue.texts }
    }
}
