// SPDX-License-Identifier: Apache-2.0

/// A structure of settings.
package protocol SettingGroup: Sendable, Equatable {
    /// Its settings, in the order of the file.
    static var settings: SettingTable<Self> { get }
    /// The defaults.
    init()
}

/// The settings of the structure `Root`, one row each.
package struct SettingTable<Root: Sendable>: Sendable {
    /// What they are about.
    package let about: String
    /// The rows, in the order of the file.
    package let rows: [Setting<Root>]

    /// A table.
    /// - Parameters:
    ///   - about: what the settings are about, in a sentence.
    ///   - reload: whether a reload takes the settings whose rows do not say so.
    ///   - rows: a row a setting.
    package init(
        _ about: String, reload: SettingReload = .takes,
        @SettingTableBuilder<Root> _ rows: () -> [Setting<Root>]
    ) {
        self.about = about
        self.rows = rows().map { $0.reloading(reload) }
    }

    /// The values of all settings as an object.
    package func json(of root: Root) -> JSONValue {
        rows.reduce(.object([])) {
            $0.setting($1.path.split(separator: ".").map(String.init), to: $1.json(root))
        }
    }
}

/// Lists rows and groups of rows.
@resultBuilder
package enum SettingTableBuilder<Root: Sendable> {
    package static func buildExpression(_ row: Setting<Root>) -> [Setting<Root>] { [row] }
    /// The rows of a group.
    package static func buildExpression(_ rows: [Setting<Root>]) -> [Setting<Root>] { rows }
    /// All rows.
    package static func buildBlock(_ parts: [Setting<Root>]...) -> [Setting<Root>] { parts.flatMap(\.self) }
}

/// A structure of settings that is a value in a list or table.
package protocol SettingObject: SettingGroup, SettingValue {}

extension SettingObject {
    /// All members, also those that have their default.
    package var json: JSONValue { Self.settings.json(of: self) }

    /// Reads the members that are there, and refuses values that their rows do not allow; `null` is as good as none.
    package init(json: JSONValue) throws(SettingMismatch) {
        guard case .object(let members) = json else { throw SettingMismatch("expected an object") }
        let rows = Self.settings.rows
        let names = rows.map(\.path)
        let unknown = members.map(\.name).filter { !names.contains($0) }
        self.init()
        var value = self
        _ = try SettingMismatch.collect((unknown + names).map { (name: $0, part: $0) }) {
            (name) throws(SettingMismatch) in
            guard let setting = rows.first(where: { $0.path == name }) else {
                throw SettingMismatch("unknown key; expected one of \(names.joined(separator: ", "))")
            }
            switch json[name] {
            case nil, .null: if setting.isRequired { throw SettingMismatch("expected a value") }
            case let json?:
                try setting.set(&value, json)
                guard setting.refused(value).isEmpty else {
                    throw SettingMismatch("expected \(setting.allowed ?? "another value")")
                }
            }
        }
        self = value
    }
}
