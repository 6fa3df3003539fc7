// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Merges the settings: defaults, over them the operator's file, over that the environment, over that flags.
///
/// The values of each source replace those before. A key without a row is unknown, and a value that its row
/// can't read is refused, both with path, place and what is allowed. All problems are collected.
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
        /// The addresses of sockets that systemd opened, in place of `listen`, `admin.listen` and `metrics.listen`; empty if
        /// there are none.
        var inherited: (serving: [String], admin: [String], metrics: [String]) = ([], [], [])
    }

    private static let settings = Dictionary(
        uniqueKeysWithValues: ProxyConfiguration.settings.rows.map { ($0.path, $0) })

    private var configuration = ProxyConfiguration()
    private var issues: [ConfigurationIssue] = []
    private var places = SettingPlaces()

    /// Returns the settings, and where their values stand.
    /// - Throws: all that is wrong with them.
    static func load(
        _ sources: Sources
    ) throws(ConfigurationError) -> (configuration: ProxyConfiguration, places: SettingPlaces) {
        var loader = ConfigurationLoader()
        if let file = sources.file { loader.readFile(file.name, file.bytes) }
        loader.readEnvironment(sources.environment)
        if !sources.listen.isEmpty {
            loader.apply(.strings(sources.listen), at: "listen", from: .flag("--listen"))
        }
        let systemd = ConfigurationIssue.Origin.environment("LISTEN_FDS")
        let inherited = sources.inherited
        for (path, addresses) in [
            ("listen", inherited.serving), ("admin.listen", inherited.admin),
            ("metrics.listen", inherited.metrics),
        ] where !addresses.isEmpty {
            loader.apply(.strings(addresses), at: path, from: systemd)
        }
        return (try loader.finish(), loader.places)
    }

    // MARK: - The file

    private mutating func readFile(_ name: String, _ bytes: [UInt8]) {
        var parser = JSONParser(bytes)
        do throws(JSONSyntaxError) {
            let root = try parser.parse()
            guard case .object = root else {
                return report("", "\(root.kind) is not allowed, expected an object", .file(name, nil))
            }
            let positions = parser.positions
            for (path, position) in positions { places.positions[path.joined(separator: ".")] = position }
            walk(root, over: ProxyConfiguration.defaults, at: "", of: name)
        } catch {
            let hint = Self.looksLikeYAML(bytes) ? Self.yamlHint : ""
            report("", error.message + hint, .file(name, error.position))
        }
    }

    private static let yamlHint =
        "; the settings are JSON, and this looks like YAML, which 'yq -o=json' turns into JSON"

    /// Whether the first line that is no comment is a name with a colon, or the beginning of a document.
    private static func looksLikeYAML(_ bytes: [UInt8]) -> Bool {
        let lines = String(decoding: bytes.prefix(4_096), as: UTF8.self).split(whereSeparator: \.isNewline)
        guard let first = lines.first(where: { !$0.hasPrefix("#") }) else { return false }
        return first.hasPrefix("---") || first.prefix { $0.isLetter }.count > 0 && first.contains(":")
    }

    /// Applies the members of an object; `known` has those that there are.
    private mutating func walk(_ value: JSONValue, over known: JSONValue, at path: String, of file: String) {
        let origin = places.placed(.file(file, nil), at: path)
        guard Self.settings[path] == nil, case .object(let names) = known else {
            return apply(value, at: path, from: origin)
        }
        guard case .object(let members) = value else {
            return report(path, "\(value.kind) is not allowed, expected an object", origin)
        }
        for member in members {
            let inner = path.isEmpty ? member.name : "\(path).\(member.name)"
            guard let next = known[member.name] else {
                let hint = hint(for: member.name, among: names)
                report(inner, "unknown key" + hint, places.placed(origin, at: inner))
                continue
            }
            walk(member.value, over: next, at: inner, of: file)
        }
    }

    private func hint(for name: String, among names: [JSONValue.Member]) -> String {
        let parts = name.split(separator: ".").map(String.init)
        if parts.count > 1, names.contains(where: { $0.name == parts[0] }) {
            let nested = parts.map { "{\"\($0)\": " }.joined() + "…" + parts.map { _ in "}" }.joined()
            return ", keys are nested objects: \(nested)"
        }
        return nearest(to: name, among: names.map(\.name)).map { ", did you mean \($0)?" } ?? ""
    }

    // MARK: - The environment

    private mutating func readEnvironment(_ environment: [String: String]) {
        let variables = EnvironmentNames.settings
        for (name, text) in environment.sorted(by: { $0.key < $1.key }) where EnvironmentNames.isOurs(name) {
            let origin = ConfigurationIssue.Origin.environment(name)
            guard let setting = variables[name] else {
                guard !ServiceVariables.contains(name, text) else { continue }
                report(
                    "", "unknown variable" + EnvironmentNames.hint(for: name, among: variables.keys), origin)
                continue
            }
            do throws(JSONSyntaxError) {
                let readings = try EnvironmentNames.readings(
                    of: text, like: setting.json(ProxyConfiguration()))
                let fitting = readings.first { mismatch($0, setting) == nil }
                apply(fitting ?? readings.first ?? .string(text), at: setting.path, from: origin)
            } catch {
                report(setting.path, "it is not JSON: \(error.position): \(error.message)", origin)
            }
        }
    }

    /// The variables that look like settings and are ignored, since Kubernetes sets them for a Service.
    static func ignoredVariables(in environment: [String: String]) -> [String] {
        environment.filter { name, value in
            EnvironmentNames.isOurs(name) && EnvironmentNames.settings[name] == nil
                && ServiceVariables.contains(name, value)
        }.map(\.key).sorted()
    }

    // MARK: - Values

    /// Replaces a setting's value if its row can read the new one.
    private mutating func apply(
        _ value: JSONValue, at path: String, from origin: ConfigurationIssue.Origin
    ) {
        guard let setting = Self.settings[path] else { return }
        do throws(SettingMismatch) {
            try setting.set(&configuration, value)
            places.origins.append((path, origin))
        } catch {
            for fault in error.faults { report(fault, in: value, of: setting, origin) }
            // The other members of a table are checked as well.
            guard case .object(let members) = value else { return }
            let fitting = members.filter { mismatch(.object([$0]), setting) == nil }
            if !fitting.isEmpty { apply(.object(fitting), at: path, from: origin) }
        }
    }

    private func mismatch(
        _ value: JSONValue, _ setting: Setting<ProxyConfiguration>
    ) -> SettingMismatch? {
        var trial = configuration
        do throws(SettingMismatch) {
            try setting.set(&trial, value)
            return nil
        } catch {
            return error
        }
    }

    private mutating func report(
        _ fault: SettingMismatch.Fault, in value: JSONValue, of setting: Setting<ProxyConfiguration>,
        _ origin: ConfigurationIssue.Origin
    ) {
        let path = ([setting.path] + fault.path).joined(separator: ".")
        let found = setting.isSecret ? nil : value.inside(fault.path)?.compact
        // Only the place of a secret is shown, not the secret.
        let shown = found ?? (fault.path.isEmpty ? "the value" : nil)
        let problem = shown.map { "\($0) is not allowed, \(fault.text)" } ?? fault.text
        report(path, problem, places.placed(origin, at: path))
    }

    private mutating func report(_ path: String, _ problem: String, _ origin: ConfigurationIssue.Origin) {
        issues.append(ConfigurationIssue(path: path, problem: problem, origin: origin))
    }

    private func finish() throws(ConfigurationError) -> ProxyConfiguration {
        let all = issues + configuration.problems().map(places.located)
        guard all.isEmpty else { throw ConfigurationError(issues: all) }
        return configuration
    }
}
