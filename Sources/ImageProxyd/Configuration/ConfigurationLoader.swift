// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Merges the settings: defaults, over them the operator's file, over that the environment, over that flags.
///
/// The defaults are encoded first, and everything else replaces values of that tree: a key that is not in it
/// is unknown, and a value that does not decode in its place is refused, both with path, place and what is
/// allowed. All problems are collected. A member whose default is an empty object (`fetch.headers`) accepts
/// any key.
struct ConfigurationLoader {
    /// The maximum size of the file; a larger one is refused.
    static let maxFileBytes = ByteCount.mebibytes(4)

    /// The operator's values, by where they came from.
    struct Sources: Sendable {
        /// The file's name, for messages, and its content; nil when there is none.
        var file: (name: String, bytes: [UInt8])?
        /// The environment; only names that begin with `IMAGEPROXYD_` are read.
        var environment: [String: String] = [:]
        /// `--listen`, when given.
        var listen: [String] = []
        /// The addresses of sockets that systemd opened, in place of `listen` and `admin.listen`; empty if
        /// there are none.
        var inherited: (serving: [String], admin: [String]) = ([], [])
    }

    /// A value that replaces a default.
    private struct Overlay {
        var path: [String]
        var value: JSONValue
    }

    private let defaults: JSONValue
    private var issues: [ConfigurationIssue] = []
    private var overlays: [Overlay] = []
    private var places = SettingPlaces()

    /// Returns the settings.
    /// - Throws: all problems.
    static func load(_ sources: Sources) throws(ConfigurationError) -> ProxyConfiguration {
        try loadWithPlaces(sources).configuration
    }

    /// Returns the settings, and where their values stand.
    /// - Throws: all that is wrong with them.
    static func loadWithPlaces(
        _ sources: Sources
    ) throws(ConfigurationError) -> (configuration: ProxyConfiguration, places: SettingPlaces) {
        var loader = ConfigurationLoader(defaults: Self.defaults)
        if let file = sources.file { loader.readFile(file.name, file.bytes) }
        loader.readEnvironment(sources.environment)
        if !sources.listen.isEmpty {
            loader.apply(.strings(sources.listen), at: ["listen"], from: .flag("--listen"))
        }
        let systemd = ConfigurationIssue.Origin.environment("LISTEN_FDS")
        if !sources.inherited.serving.isEmpty {
            loader.apply(.strings(sources.inherited.serving), at: ["listen"], from: systemd)
        }
        if !sources.inherited.admin.isEmpty {
            loader.apply(.strings(sources.inherited.admin), at: ["admin", "listen"], from: systemd)
        }
        return (try loader.finish(), loader.places)
    }

    /// The defaults as a tree, in the order of declaration.
    static var defaults: JSONValue { tree(ProxyConfiguration()) }

    /// Settings as a tree, in the order of declaration.
    static func tree(_ configuration: ProxyConfiguration) -> JSONValue {
        do {
            return try SettingsEncoder.encode(configuration)
        } catch {
            // No setting's `encode(to:)` throws; a test ensures that for the defaults.
            preconditionFailure("settings can't be encoded: \(error)")
        }
    }

    private init(defaults: JSONValue) {
        self.defaults = defaults
    }

    // MARK: - The file

    private mutating func readFile(_ name: String, _ bytes: [UInt8]) {
        var parser = JSONParser(bytes)
        do throws(JSONSyntaxError) {
            let root = try parser.parse()
            guard case .object = root else {
                return report([], "\(root.kind) is not allowed, expected an object", .file(name, nil))
            }
            let positions = parser.positions
            for (path, position) in positions { places.positions[path.joined(separator: ".")] = position }
            walk(root, over: defaults, at: []) { .file(name, positions[$0]) }
        } catch {
            report([], error.message, .file(name, error.position))
        }
    }

    private mutating func walk(
        _ value: JSONValue, over known: JSONValue, at path: [String],
        origin: ([String]) -> ConfigurationIssue.Origin
    ) {
        guard case .object(let names) = known, !names.isEmpty else {
            return apply(value, at: path, from: origin(path))
        }
        guard case .object(let members) = value else {
            return report(path, "\(value.kind) is not allowed, expected an object", origin(path))
        }
        for member in members {
            let inner = path + [member.name]
            guard let next = known[member.name] else {
                report(inner, "unknown key" + hint(for: member.name, among: names), origin(inner))
                continue
            }
            walk(member.value, over: next, at: inner, origin: origin)
        }
    }

    private func hint(for name: String, among names: [JSONValue.Member]) -> String {
        let parts = name.split(separator: ".").map(String.init)
        if parts.count > 1, names.contains(where: { $0.name == parts[0] }) {
            let nested = parts.map { "{\"\($0)\": " }.joined() + "…" + parts.map { _ in "}" }.joined()
            return ", keys are nested objects: \(nested)"
        }
        return nearest(to: name, among: names.map(\.name)).map { ", did you mean \($0)?" }.orEmpty
    }

    // MARK: - The environment

    private mutating func readEnvironment(_ environment: [String: String]) {
        let variables = EnvironmentNames.paths(in: defaults)
        for (name, text) in environment.sorted(by: { $0.key < $1.key }) where EnvironmentNames.isOurs(name) {
            let origin = ConfigurationIssue.Origin.environment(name)
            guard let path = variables[name] else {
                guard !ServiceVariables.contains(name, text) else { continue }
                report(
                    [], "unknown variable" + EnvironmentNames.hint(for: name, among: variables.keys), origin)
                continue
            }
            let candidates = EnvironmentNames.readings(of: text, like: value(at: path))
            let fitting = candidates.first { mismatch($0, at: path) == nil }
            apply(fitting ?? candidates.first ?? .string(text), at: path, from: origin)
        }
    }

    /// The variables that look like settings and are ignored, since Kubernetes sets them for a Service.
    static func ignoredVariables(in environment: [String: String]) -> [String] {
        let settings = EnvironmentNames.paths(in: defaults)
        return environment.filter { name, value in
            EnvironmentNames.isOurs(name) && settings[name] == nil && ServiceVariables.contains(name, value)
        }.map(\.key).sorted()
    }

    private func value(at path: [String]) -> JSONValue {
        path.reduce(defaults) { $0[$1] ?? .null }
    }

    // MARK: - Overlays

    /// Replaces a default by a value if it alone, in its place, can be decoded.
    private mutating func apply(_ value: JSONValue, at path: [String], from origin: ConfigurationIssue.Origin)
    {
        let mismatches = mismatches(of: value, at: path)
        guard !mismatches.isEmpty else { return replace(path, with: value, from: origin) }
        for mismatch in mismatches {
            let inner = path + mismatch.inner
            let name = inner.joined(separator: ".")
            let found = SecretSettings.contains(name) ? nil : value.inside(mismatch.inner)
            let problem = found.map { "\($0.compact) is not allowed, \(mismatch.text)" }
            let hidden = mismatch.inner.isEmpty ? "the value is not allowed, \(mismatch.text)" : mismatch.text
            report(inner, problem ?? hidden, places.placed(origin, at: name))
        }
        guard case .object(let members) = value else { return }
        // The other members of a table are checked as well.
        let fitting = members.filter { mismatch(.object([$0]), at: path) == nil }
        if !fitting.isEmpty { replace(path, with: .object(fitting), from: origin) }
    }

    private mutating func replace(
        _ path: [String], with value: JSONValue, from origin: ConfigurationIssue.Origin
    ) {
        overlays.append(Overlay(path: path, value: value))
        places.origins.append((path.joined(separator: "."), origin))
    }

    /// What does not fit in a value: the first such value in each element of a list, or member of a table.
    private func mismatches(of value: JSONValue, at path: [String]) -> [Mismatch] {
        guard let first = mismatch(value, at: path) else { return [] }
        guard !first.inner.isEmpty else { return [first] }
        switch value {
        case .array(let values):
            return values.enumerated().compactMap { index, element in
                guard let alone = mismatch(.array([element]), at: path) else { return nil }
                return Mismatch(inner: ["\(index)"] + alone.inner.dropFirst(), text: alone.text)
            }
        case .object(let members): return members.compactMap { mismatch(.object([$0]), at: path) }
        default: return [first]
        }
    }

    private func mismatch(_ value: JSONValue, at path: [String]) -> Mismatch? {
        do {
            _ = try SettingsDecoder.decode(
                ProxyConfiguration.self, from: defaults.replacing(path, with: value))
            return nil
        } catch DecodingError.dataCorrupted(let context) {
            let inner = context.codingPath.map(\.stringValue).dropFirst(path.count)
            return Mismatch(inner: Array(inner), text: context.debugDescription)
        } catch {
            return Mismatch(inner: [], text: "\(error)")
        }
    }

    /// Why a value does not fit, and where inside it.
    private struct Mismatch {
        let inner: [String]
        let text: String
    }

    private mutating func report(_ path: [String], _ problem: String, _ origin: ConfigurationIssue.Origin?) {
        let path = path.joined(separator: ".")
        issues.append(ConfigurationIssue(path: path, problem: problem, origin: origin))
    }

    private func finish() throws(ConfigurationError) -> ProxyConfiguration {
        let tree = overlays.reduce(defaults) { $0.replacing($1.path, with: $1.value) }
        let configuration: ProxyConfiguration
        do {
            configuration = try SettingsDecoder.decode(ProxyConfiguration.self, from: tree)
        } catch {
            // Each value decoded alone, so this is a bug of a `Decodable` that reads two; it must be
            // reported.
            throw ConfigurationError(issues: issues + [ConfigurationIssue(path: "", problem: "\(error)")])
        }
        let all = issues + configuration.problems().map(places.located)
        guard all.isEmpty else { throw ConfigurationError(issues: all) }
        return configuration
    }
}

extension Optional<String> {
    /// The text, or none.
    fileprivate var orEmpty: String { self ?? "" }
}
