// SPDX-License-Identifier: Apache-2.0

import Dialects
import Primitives

/// URLs of another image proxy that are served below a path. Configuration: a member of `dialects`, which has the
/// dialect's own settings beside these.
struct DialectConfiguration: Sendable, Hashable {
    /// The settings that every dialect has.
    private var common = Common()
    /// The dialect's own settings, all of them.
    private var own: JSONValue

    /// Settings beside the dialect's own.
    private struct Common: SettingObject {
        var name = ""
        var prefix = "/"
        var compatibleErrors = false

        static let settings = SettingTable<Self>("URLs of another image proxy.") {
            Setting("name", \.name, "The dialect's name: one of \(dialectNames).")
            Setting("prefix", \.prefix, "The path that its URLs begin with.")
            Setting(
                "compatibleErrors", \.compatibleErrors,
                "Whether errors have the other proxy's status, and not ours.")
        }
    }

    private static let dialectNames = DialectRegistry.names.joined(separator: ", ")

    /// The dialect's name, such as `imgproxy`.
    var name: String { common.name }
    /// The path that its URLs begin with.
    var prefix: String { common.prefix }
    /// Whether errors have the other proxy's status.
    var compatibleErrors: Bool { common.compatibleErrors }

    /// Refuses members that neither every dialect nor this one has.
    private static func check(_ members: [JSONValue.Member], in names: [String]) throws(SettingMismatch) {
        _ = try SettingMismatch.collect(members.map { (name: $0.name, part: $0.name) }) {
            (name) throws(SettingMismatch) in
            guard names.contains(name) else {
                throw SettingMismatch("unknown key; expected one of \(names.joined(separator: ", "))")
            }
        }
    }

    /// A dialect with its default settings.
    init(name: String) throws {
        guard let type = DialectRegistry.named(name) else {
            throw TranslationError(.invalid, "name", "there is no dialect '\(name)'")
        }
        common.name = name
        own = type.defaults
    }

    /// The dialect, by its settings and what their files hold.
    /// - Parameter read: reads the file that a setting names; nil where that has been reported.
    /// - Throws: what is wrong with which setting.
    func dialect(
        reading read: (_ setting: String, _ path: String) -> [UInt8]?
    ) throws(TranslationError) -> (any Dialect)? {
        try DialectRegistry.named(name)?.make(with: own, reading: read)
    }

    /// The watermarks of the configuration that it names, with the place of each name.
    var watermarkNames: [(setting: String, name: String)] {
        DialectRegistry.named(name)?.watermarkNames(in: own) ?? []
    }

    /// The same with `***` in place of keys that stand where their files' paths belong, and of signatures that open any URL.
    var withoutSecrets: DialectConfiguration {
        guard case .object(let members) = own, let type = DialectRegistry.named(name) else { return self }
        let secrets = type.secretNames
        var shown = self
        shown.own = .object(
            members.map { member in
                guard secrets.contains(member.name), case .array(let values) = member.value else {
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

extension DialectConfiguration: SettingValue {
    /// All members, the dialect's own behind the others.
    var json: JSONValue {
        guard case .object(let members) = common.json, case .object(let others) = own else { return own }
        return .object(members + others)
    }

    /// Reads an object; an unknown member is an error.
    init(json: JSONValue) throws(SettingMismatch) {
        guard case .object(let members) = json else { throw SettingMismatch("expected an object") }
        // Whose settings the others are is known by the name alone.
        _ = try SettingMismatch.collect([(name: "name", part: json["name"] ?? .null)]) {
            (name) throws(SettingMismatch) in
            guard case .string(let text) = name, DialectRegistry.named(text) != nil else {
                throw SettingMismatch("expected one of \(Self.dialectNames)")
            }
        }
        guard case .string(let name)? = json["name"], let type = DialectRegistry.named(name) else {
            throw SettingMismatch("expected a dialect")
        }
        let names = Common.settings.rows.map(\.path)
        try Self.check(members, in: names + type.settingNames)
        common = try Common(json: .object(members.filter { names.contains($0.name) }))
        own = try type.checked(.object(members.filter { !names.contains($0.name) }))
    }
}

extension Dialect {
    fileprivate static var settingNames: [String] { Settings.settings.rows.map(\.path) }

    fileprivate static var secretNames: [String] { Settings.settings.rows.filter(\.isSecret).map(\.path) }

    fileprivate static var defaults: JSONValue { Settings().json }

    /// All of its settings, where some have these values.
    fileprivate static func checked(_ json: JSONValue) throws(SettingMismatch) -> JSONValue {
        try Settings(json: json).json
    }

    fileprivate static func make(
        with own: JSONValue, reading read: (_ setting: String, _ path: String) -> [UInt8]?
    ) throws(TranslationError) -> (any Dialect)? {
        // Ignored: why it can't be read; it has been, when the settings were.
        guard let settings = try? Settings(json: own) else { return nil }
        let secrets = settings.secretFiles.compactMap { read($0.setting, $0.path) }
        guard secrets.count == settings.secretFiles.count else { return nil }
        return try Self(settings, keys: secrets)
    }

    fileprivate static func watermarkNames(in own: JSONValue) -> [(setting: String, name: String)] {
        // Ignored: why it can't be read; it has been, when the settings were.
        (try? Settings(json: own))?.watermarkNames ?? []
    }
}
