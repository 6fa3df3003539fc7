// SPDX-License-Identifier: Apache-2.0

import Cache
import Loading
import Observability
import Primitives
import Rendering

/// Compares newly read settings with the running ones: which apply at once, and which need a restart. Pure.
struct ReloadPlan {
    /// The running settings with all changes that can be applied.
    let next: ProxyConfiguration
    /// The keys that change now.
    let applied: [String]
    /// The keys that differ and need a restart.
    let waiting: [String]

    /// Compares the running settings with those read.
    init(running: ProxyConfiguration, read: ProxyConfiguration) {
        var next = running
        next.fetch = Self.fetch(running.fetch, read.fetch)
        next.failedURLs = read.failedURLs
        next.cache = Self.cache(running.cache, read.cache)
        next.transform = Self.transform(running.transform, read.transform)
        next.freshness = read.freshness
        next.origins = read.origins
        next.limits = read.limits
        next.formats = read.formats
        next.quality = read.quality
        next.presets = read.presets
        next.placeholders = read.placeholders
        next.watermarks = read.watermarks
        next.security = read.security
        // It decides whether the loader uses a proxy at all.
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

    /// All except what persistent connections were made with, and the name that requests in progress carry.
    private static func fetch(
        _ running: FetchConfiguration, _ read: FetchConfiguration
    ) -> FetchConfiguration {
        var next = read
        next.proxy = running.proxy
        next.http2 = running.http2
        next.via = running.via
        return next
    }

    /// The amounts and lifetimes of what is stored.
    private static func cache(
        _ running: CacheConfiguration, _ read: CacheConfiguration
    ) -> CacheConfiguration {
        var next = running
        next.memory.maxBytes = read.memory.maxBytes
        next.disk.maxBytes = read.disk.maxBytes
        next.disk.lowWater = read.disk.lowWater
        next.disk.maxAge = read.disk.maxAge
        next.disk.sweepInterval = read.disk.sweepInterval
        return next
    }

    /// The settings of jobs, except those that their workers were started with.
    private static func transform(
        _ running: TransformConfiguration, _ read: TransformConfiguration
    ) -> TransformConfiguration {
        var next = running
        next.linearLight = read.linearLight
        next.intermediates = read.intermediates
        next.improve = read.improve
        guard running.isolation == .process else { return next }
        next.queue = read.queue
        next.queueTimeout = read.queueTimeout
        next.cheapestAfter = read.cheapestAfter
        next.timeout = read.timeout
        next.headerMemory = read.headerMemory
        next.headerTime = read.headerTime
        next.jobsPerWorker = read.jobsPerWorker
        return next
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
