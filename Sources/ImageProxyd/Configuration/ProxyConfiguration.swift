// SPDX-License-Identifier: Apache-2.0

import Cache
import Freshness
import Imaging
import Loading
import Observability
import Origins
import Primitives
import Rendering
import Request
import Sharing
import URLs

/// All settings of the daemon: one member for each module. The modules declare their settings, defaults and
/// bounds.
///
/// To add a setting, add a member and a row in its module's structure, and run `make documents`.
struct ProxyConfiguration: SettingGroup {
    var listen = ["127.0.0.1:8080"]
    var admin = AdminConfiguration()
    var metrics = MetricsConfiguration()
    var http = HTTPConfiguration()
    var cache = CacheConfiguration()
    var shared = SharedConfiguration()
    var cluster = ClusterConfiguration()
    var freshness = FreshnessConfiguration()
    var downstream = DownstreamConfiguration()
    var failedURLs = FailedURLsConfiguration()
    var fetch = FetchConfiguration()
    var origins: [OriginRuleConfiguration] = []
    var transform = TransformConfiguration()
    var limits = RenderLimits()
    var formats = FormatsConfiguration()
    var quality = QualityConfiguration()
    var security = SecurityConfiguration()
    var presets: [String: Preset] = [:]
    var dialects: [DialectConfiguration] = []
    var placeholders: [String: String] = [:]
    var watermarks: [String: String] = [:]
    var prefetch = PrefetchConfiguration()
    var playground = true
    var playgroundSamples: [String] = []
    var log = LogConfiguration()

    static let settings = SettingTable<Self>("All settings.", reload: .takes) {
        Setting(
            "listen", \.listen, allowed: "at least one address", reload: .needsRestart,
            "Addresses to serve on: `127.0.0.1:8080`, `[::1]:8080`, `unix:/path`."
        ) { !$0.isEmpty }
        Setting.group("admin", \.admin)
        Setting.group("metrics", \.metrics)
        Setting.group("http", \.http)
        Setting.group("cache", \.cache)
        Setting.group("shared", \.shared)
        Setting.group("cluster", \.cluster)
        Setting.group("freshness", \.freshness)
        Setting.group("downstream", \.downstream)
        Setting.group("failedURLs", \.failedURLs)
        Setting.group("fetch", \.fetch)
        Setting(
            "origins", \.origins, isSecret: true,
            "How the sources of some origins are treated, the first rule that matches (see docs/origins.md).")
        Setting.group("transform", \.transform)
        Setting.group("limits", \.limits)
        Setting.group("formats", \.formats)
        Setting.group("quality", \.quality)
        Setting.group("security", \.security)
        Setting(
            "presets", \.presets,
            """
            Named bundles of parameters: `{"thumb": {"transform": "resize:200x200:cover", "quality": 70}}`.
            """)
        Setting(
            "dialects", \.dialects, isSecret: true,
            "URLs of other image proxies that are understood, each below a path (see docs/moving).")
        Setting(
            "placeholders", \.placeholders, "Images that stand in for failed sources: paths of files by name."
        )
        Setting(
            "watermarks", \.watermarks, "Images that `watermark` lays over others: paths of files by name.")
        Setting.group("prefetch", \.prefetch)
        Setting(
            "playground", \.playground,
            """
            Whether the page to try things out is served at `/` and `/playground` (see docs/playground.md). The admin
            listener always serves it.
            """)
        Setting(
            "playgroundSamples", \.playgroundSamples, each: "a URL of a source",
            "Sources that the playground offers to begin with."
        ) { samples in
            // Ignored: why it is no URL; the problem names it, and what is allowed.
            samples.filter { (try? SourceURL(parsing: $0)) == nil }
        }
        Setting.group("log", \.log)
    }

    /// The defaults as an object, in the order of the table.
    static let defaults = settings.json(of: ProxyConfiguration())
}
