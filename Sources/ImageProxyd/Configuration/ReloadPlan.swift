// SPDX-License-Identifier: Apache-2.0

import ProxyCore

/// What a reload makes of settings that were read again: which count at once, and which wait for a restart. Pure.
struct ReloadPlan {
    /// The running settings with what can change in them.
    let next: ProxyConfiguration
    /// The keys that change now.
    let applied: [String]
    /// The keys that differ from what runs, and go on differing.
    let waiting: [String]

    /// Compares what runs with what was read.
    init(running: ProxyConfiguration, read: ProxyConfiguration) {
        var next = running
        next.freshness = read.freshness
        next.origins = read.origins
        next.limits = read.limits
        next.formats = read.formats
        next.quality = read.quality
        next.presets = read.presets
        next.placeholders = read.placeholders
        next.watermarks = read.watermarks
        next.security = read.security
        // It decides whether the loader asks through a proxy at all.
        next.security.trustFetchProxy = running.security.trustFetchProxy
        next.http.cors = read.http.cors
        next.http.clientHints = read.http.clientHints
        next.http.timingAllowOrigin = read.http.timingAllowOrigin
        next.admin.token = read.admin.token
        next.log.level = read.log.level
        self.next = next
        applied = Self.differences(running, next)
        waiting = Self.differences(next, read)
    }

    private static func differences(_ one: ProxyConfiguration, _ other: ProxyConfiguration) -> [String] {
        guard one != other else { return [] }
        return differences(ConfigurationLoader.tree(one), ConfigurationLoader.tree(other), at: "")
    }

    private static func differences(_ one: JSONValue, _ other: JSONValue, at path: String) -> [String] {
        guard one != other else { return [] }
        guard case .object(let members) = one, case .object(let others) = other else { return [path] }
        var names = members.map(\.name)
        names += others.map(\.name).filter { !names.contains($0) }
        return names.flatMap { name in
            differences(
                one[name] ?? .null, other[name] ?? .null, at: path.isEmpty ? name : "\(path).\(name)")
        }
    }
}
