// SPDX-License-Identifier: Apache-2.0

import Dialects
import Primitives

/// URLs of another image proxy that are served below a path. Configuration: a member of `dialects`, which has the
/// dialect's own settings beside these.
struct DialectConfiguration: Sendable, Hashable, Codable {
    /// The dialect's name: `imgproxy`, `thumbor`, `imaginary`, `weserv`, `cloudflare`, `imgix`, `nextjs`.
    var name: String
    /// The path that its URLs begin with. Default `/`.
    var prefix = "/"
    /// Whether errors have the other proxy's status. Default false: ours.
    var compatibleErrors = false
    /// The dialect's own settings, all of them.
    private(set) var settings: JSONValue

    /// The names of the members that are not the dialect's own.
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case name, prefix, compatibleErrors
    }

    /// The name of any member.
    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { return nil }
    }

    /// A dialect with its default settings.
    init(name: String) throws {
        self.name = name
        guard let type = DialectRegistry.named(name) else {
            throw TranslationError(.invalid, "name", "there is no dialect '\(name)'")
        }
        settings = try Self.settings(of: type, [], at: [])
    }

    /// Decodes an object; an unknown member is an error.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decodeIfPresent(String.self, forKey: .name) ?? ""
        prefix = try container.decodeIfPresent(String.self, forKey: .prefix) ?? "/"
        compatibleErrors = try container.decodeIfPresent(Bool.self, forKey: .compatibleErrors) ?? false
        guard let type = DialectRegistry.named(name) else {
            let names = DialectRegistry.all.map { $0.name }
            throw SettingsDecoder.mismatch(
                "one of \(names.joined(separator: ", "))", at: decoder.codingPath + [CodingKeys.name])
        }
        guard case .object(let members)? = SettingsDecoder.json(of: decoder) else {
            throw SettingsDecoder.mismatch("an object", at: decoder.codingPath)
        }
        let own = members.filter { CodingKeys(stringValue: $0.name) == nil }
        settings = try Self.settings(of: type, own, at: decoder.codingPath)
    }

    /// The defaults of a dialect's settings with these members in place of theirs.
    private static func settings<Foreign: Dialect>(
        of type: Foreign.Type, _ members: [JSONValue.Member], at path: [any CodingKey]
    ) throws -> JSONValue {
        var tree = try SettingsEncoder.encode(Foreign.Settings())
        for member in members {
            guard case .object(let known) = tree, tree[member.name] != nil else {
                throw unknown(member.name, in: tree, at: path)
            }
            tree = .object(known.map { $0.name == member.name ? member : $0 })
        }
        _ = try SettingsDecoder.value(Foreign.Settings.self, from: tree, at: path)
        return tree
    }

    private static func unknown(
        _ name: String, in tree: JSONValue, at path: [any CodingKey]
    ) -> DecodingError {
        var names = CodingKeys.allCases.map(\.rawValue)
        if case .object(let known) = tree { names += known.map(\.name) }
        return .dataCorrupted(
            DecodingError.Context(
                codingPath: path + [AnyKey(stringValue: name)],
                debugDescription: "unknown key; expected one of \(names.joined(separator: ", "))"))
    }

    /// Encodes all members.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode(name, forKey: AnyKey(stringValue: CodingKeys.name.rawValue))
        try container.encode(prefix, forKey: AnyKey(stringValue: CodingKeys.prefix.rawValue))
        try container.encode(
            compatibleErrors, forKey: AnyKey(stringValue: CodingKeys.compatibleErrors.rawValue))
        guard case .object(let members) = settings else { return }
        for member in members { try container.encode(member.value, forKey: AnyKey(stringValue: member.name)) }
    }

    /// The dialect, by its settings and what their files hold.
    /// - Parameter read: reads one file; nil where that has been reported.
    /// - Throws: what is wrong with which setting.
    func dialect(reading read: (String) -> [UInt8]?) throws(TranslationError) -> (any Dialect)? {
        guard let type = DialectRegistry.named(name) else { return nil }
        return try dialect(type, read)
    }

    private func dialect<Foreign: Dialect>(
        _ type: Foreign.Type, _ read: (String) -> [UInt8]?
    ) throws(TranslationError) -> (any Dialect)? {
        // Lost: why it does not decode; it has, when the settings were read.
        guard let settings = try? SettingsDecoder.value(Foreign.Settings.self, from: settings, at: []) else {
            return nil
        }
        let secrets = settings.secretFiles.compactMap(read)
        guard secrets.count == settings.secretFiles.count else { return nil }
        return try Foreign(settings, keys: secrets)
    }

    /// The same with `***` in place of keys that stand where their files' paths belong.
    var withoutSecrets: DialectConfiguration {
        guard case .object(let members) = settings else { return self }
        var shown = self
        shown.settings = .object(
            members.map { member in
                guard ["keys", "salts"].contains(member.name), case .array(let values) = member.value else {
                    return member
                }
                let places = values.map { value -> JSONValue in
                    guard case .string(let text) = value, !SecretSettings.isPlace(text) else { return value }
                    return .string("***")
                }
                return JSONValue.Member(name: member.name, value: .array(places))
            })
        return shown
    }
}

extension JSONValue: Encodable {
    /// Encodes the value; objects keep the order of their members.
    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let value): try value.encode(to: encoder)
        case .integer(let value): try value.encode(to: encoder)
        case .number(let value): try value.encode(to: encoder)
        case .string(let value): try value.encode(to: encoder)
        case .array(let values): try values.encode(to: encoder)
        case .object(let members):
            var container = encoder.container(keyedBy: MemberName.self)
            for member in members {
                try container.encode(member.value, forKey: MemberName(stringValue: member.name))
            }
        }
    }

    private struct MemberName: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { return nil }
    }
}
