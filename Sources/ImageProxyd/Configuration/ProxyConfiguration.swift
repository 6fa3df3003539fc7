// SPDX-License-Identifier: Apache-2.0

import Cache
import Freshness
import Imaging
import Loading
import Observability
import Origins
import Rendering
import Request

/// All settings of the daemon: one member for each module. The modules declare their settings, defaults and
/// bounds.
///
/// The names of the members are the keys of the file, in this order; see `ConfigurationLoader` for where
/// values come from. To add a setting, declare it in its module's struct and run `make documents`.
struct ProxyConfiguration: Sendable, Hashable, Codable {
    /// Addresses to serve on: `127.0.0.1:8080`, `[::1]:8080`, `unix:/path`.
    var listen = ["127.0.0.1:8080"]
    /// The listener for operators.
    var admin = AdminSection()
    /// Bounds of the HTTP server.
    var http = HTTPSection()
    /// The two tiers.
    var cache = CacheConfiguration()
    /// How long stored responses may be reused.
    var freshness = FreshnessConfiguration()
    /// The memory of failed URLs.
    var failedURLs = FailedURLsConfiguration()
    /// How origins are asked.
    var fetch = FetchConfiguration()
    /// How the sources of some origins are treated, the first rule that matches (see docs/origins.md). Default none.
    var origins: [OriginRuleConfiguration] = []
    /// How renderings are run.
    var transform = TransformConfiguration()
    /// Bounds on pictures.
    var limits = RenderLimits()
    /// Formats that are read and chosen.
    var formats = FormatsConfiguration()
    /// Default encoder qualities.
    var quality = QualityConfiguration()
    /// What the daemon may be asked for, and whom it may connect to.
    var security = SecuritySection()
    /// Named bundles of parameters: `{"thumb": {"transform": "resize:200x200:cover", "quality": 70}}`. Default none.
    var presets: [String: Preset] = [:]
    /// URLs of other image proxies that are understood, each below a path (see docs/moving). Default none.
    var dialects: [DialectConfiguration] = []
    /// Images that stand in for failed sources: paths of files by name. Default none.
    var placeholders: [String: String] = [:]
    /// Images that `watermark` lays over others: paths of files by name. Default none.
    var watermarks: [String: String] = [:]
    /// What is logged.
    var log = LogConfiguration()
}
