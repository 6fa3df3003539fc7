// SPDX-License-Identifier: Apache-2.0

/// When a changed value of a setting is used.
package enum SettingReload: Sendable {
    /// From the reload on.
    case takes
    /// After a restart.
    case needsRestart
    /// From the reload on if worker processes compute pixels, else after a restart.
    case takesWithWorkers
}

/// One setting of the structure `Root`: a row of its table.
///
/// Everything that the daemon does with a setting follows from its row: keys of the file, variables of the
/// environment, checks, the plan of a reload, `config.example.json` and docs/configuration.md. The default is
/// the value in `Root()`.
package struct Setting<Root: Sendable>: Sendable {
    /// The keys that lead to it from `Root`, joined by dots: `cache.memory.maxBytes`.
    package private(set) var path: String
    /// What the outermost group of settings around it is about.
    package private(set) var group = ""
    /// What it means, its unit, and what happens beyond it.
    package let documentation: String
    /// What its value may be, after "expected"; nil if any value of its type is allowed.
    package let allowed: String?
    /// Its values, where there are few.
    package let choices: [String]
    /// Whether invalid values are not shown, since they contain secrets, or secrets are pasted there.
    package let isSecret: Bool
    /// Whether an object without it is invalid.
    package let isRequired: Bool
    /// Whether a reload takes it; nil until its table says so.
    package private(set) var reload: SettingReload?

    /// The value as it is written.
    package let json: @Sendable (Root) -> JSONValue
    /// Replaces the value.
    package let set: @Sendable (inout Root, JSONValue) throws(SettingMismatch) -> Void
    /// Copies the value of the first structure to the second.
    package let copy: @Sendable (Root, inout Root) -> Void
    /// The values that are not allowed: of a list, elements of it.
    package let refused: @Sendable (Root) -> [String]

    /// A setting that may have any value of its type.
    package init<Value: SettingValue>(
        _ name: String, _ keyPath: any WritableKeyPath<Root, Value> & Sendable, isSecret: Bool = false,
        isRequired: Bool = false, reload: SettingReload? = nil, _ documentation: String
    ) {
        self.init(
            name, keyPath, allowed: nil, isSecret: isSecret, isRequired: isRequired, reload: reload,
            documentation
        ) { _ in [] }
    }

    /// A number, size or time with a range.
    package init<Value: SettingNumber>(
        _ name: String, _ keyPath: any WritableKeyPath<Root, Value> & Sendable, in range: ClosedRange<Value>,
        orZero meaning: String? = nil, reload: SettingReload? = nil, _ documentation: String
    ) {
        let zero = meaning.map { ", or 0 for \($0)" } ?? ""
        self.init(
            name, keyPath, allowed: "\(range.lowerBound) to \(range.upperBound)\(zero)", reload: reload,
            documentation
        ) { value in
            range.contains(value) || meaning != nil && value == .zero ? [] : ["\(value)"]
        }
    }

    /// A text, or a table of texts, that follows a rule.
    package init<Value: SettingValue>(
        _ name: String, _ keyPath: any WritableKeyPath<Root, Value> & Sendable, allowed: String,
        isSecret: Bool = false, reload: SettingReload? = nil, _ documentation: String,
        where isAllowed: @escaping @Sendable (Value) -> Bool
    ) {
        self.init(
            name, keyPath, allowed: allowed, isSecret: isSecret, reload: reload, documentation
        ) { value in
            isAllowed(value) ? [] : [value.json.compact]
        }
    }

    /// A list of whose elements some may be refused.
    package init<Element: SettingValue>(
        _ name: String, _ keyPath: any WritableKeyPath<Root, [Element]> & Sendable, each allowed: String,
        reload: SettingReload? = nil, _ documentation: String,
        refusing refused: @escaping @Sendable ([Element]) -> [Element]
    ) {
        self.init(name, keyPath, allowed: allowed, reload: reload, documentation) { elements in
            refused(elements).map(\.json.compact)
        }
    }

    private init<Value: SettingValue>(
        _ name: String, _ keyPath: any WritableKeyPath<Root, Value> & Sendable, allowed: String?,
        isSecret: Bool = false, isRequired: Bool = false, reload: SettingReload?, _ documentation: String,
        _ refused: @escaping @Sendable (Value) -> [String]
    ) {
        path = name
        self.documentation = documentation
        self.allowed = allowed
        choices = Value.choices
        self.isSecret = isSecret
        self.isRequired = isRequired
        self.reload = reload
        json = { $0[keyPath: keyPath].json }
        set = { (root, json) throws(SettingMismatch) in root[keyPath: keyPath] = try Value(json: json) }
        copy = { $1[keyPath: keyPath] = $0[keyPath: keyPath] }
        self.refused = { refused($0[keyPath: keyPath]) }
    }
}

extension Setting {
    /// A setting of the structure in the member `name` of `Root`.
    private init<Inner: SettingGroup>(
        _ inner: Setting<Inner>, of name: String, _ keyPath: any WritableKeyPath<Root, Inner> & Sendable
    ) {
        path = "\(name).\(inner.path)"
        group = Inner.settings.about
        documentation = inner.documentation
        allowed = inner.allowed
        choices = inner.choices
        isSecret = inner.isSecret
        isRequired = inner.isRequired
        reload = inner.reload
        json = { inner.json($0[keyPath: keyPath]) }
        set = { (root, json) throws(SettingMismatch) in try inner.set(&root[keyPath: keyPath], json) }
        copy = { inner.copy($0[keyPath: keyPath], &$1[keyPath: keyPath]) }
        refused = { inner.refused($0[keyPath: keyPath]) }
    }

    /// The settings of the structure in a member of `Root`, below the key `name`.
    package static func group<Inner: SettingGroup>(
        _ name: String, _ keyPath: any WritableKeyPath<Root, Inner> & Sendable
    ) -> [Setting] {
        Inner.settings.rows.map { Setting($0, of: name, keyPath) }
    }

    /// The same, where the row does not say whether a reload takes it.
    func reloading(_ reload: SettingReload) -> Setting {
        var setting = self
        setting.reload = self.reload ?? reload
        return setting
    }
}
