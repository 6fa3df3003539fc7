// SPDX-License-Identifier: Apache-2.0

import Primitives
import Rendering

/// Compares newly read settings with the running ones: which apply at once, and which need a restart. Pure.
struct ReloadPlan {
    /// The running settings with all changes that can be applied.
    private(set) var next: ProxyConfiguration
    /// The keys that change now.
    private(set) var applied: [String] = []
    /// The keys that differ and need a restart.
    private(set) var waiting: [String] = []

    /// Compares the running settings with those read.
    init(running: ProxyConfiguration, read: ProxyConfiguration) {
        next = running
        let hasWorkers = running.transform.isolation == .process
        for setting in ProxyConfiguration.settings.rows {
            let changes = Self.differences(setting.json(running), setting.json(read), at: setting.path)
            if setting.reload == .takes || setting.reload == .takesWithWorkers && hasWorkers {
                setting.copy(read, &next)
                applied += changes
            } else {
                waiting += changes
            }
        }
    }

    private static func differences(_ one: JSONValue, _ other: JSONValue, at path: String) -> [String] {
        guard one != other else { return [] }
        guard case .object(let members) = one, case .object(let others) = other else { return [path] }
        var names = members.map(\.name)
        names += others.map(\.name).filter { !names.contains($0) }
        return names.flatMap { name in
            differences(one[name] ?? .null, other[name] ?? .null, at: "\(path).\(name)")
        }
    }
}
