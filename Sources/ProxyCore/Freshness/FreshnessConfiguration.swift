// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// How long stored responses may be reused (RFC 9111, RFC 5861). Configuration: `freshness`.
package struct FreshnessConfiguration: SettingGroup {
    package var `default` = TimeSpan.days(1)
    package var heuristic = Heuristic()
    package var minimum = TimeSpan.zero
    package var maximum = TimeSpan.days(30)
    var respectOrigin = true
    package var targets = ["CDN-Cache-Control"]
    package var staleWhileRevalidate = TimeSpan.days(1)
    package var staleIfError = TimeSpan.days(7)
    package var clientDirectives = false
    var maxRefreshes = 32
    var refreshPause = TimeSpan.seconds(5)

    /// Creates the defaults.
    package init() {}

    package static let settings = SettingTable<Self>(
        "How long stored responses may be reused.", reload: .takes
    ) {
        Setting(
            "default", \.default, in: longest,
            "Freshness lifetime when the origin names none; at most `maximum`.")
        Setting.group("heuristic", \.heuristic)
        Setting(
            "minimum", \.minimum, in: longest,
            """
            The least lifetime, whatever the origin says (`no-store` and `private` stay); at most `maximum`.
            """)
        Setting("maximum", \.maximum, in: longest, "The longest lifetime.")
        Setting(
            "respectOrigin", \.respectOrigin,
            "Whether the origin's `Cache-Control` and `Expires` count; else `default` applies to all.")
        Setting(
            "targets", \.targets, each: "at most 8 names of fields such as CDN-Cache-Control",
            """
            Fields that replace `Cache-Control` and `Expires` here, if an origin sends them; the first that is present and
            valid counts (RFC 9213).
            """
        ) { $0.dropFirst(8) + $0.filter { !$0.isToken || $0.lowercased() == "cache-control" } }
        Setting(
            "staleWhileRevalidate", \.staleWhileRevalidate, in: longest,
            """
            How long a stale copy is served while it is revalidated in the background, where the origin names neither this
            time nor a lifetime (RFC 5861 §3); 0s is off.
            """)
        Setting(
            "staleIfError", \.staleIfError, in: longest,
            """
            How long a stale copy is served in place of an error of the origin, where the origin does not say (RFC 5861
            §4); 0s is off.
            """)
        Setting(
            "clientDirectives", \.clientDirectives,
            """
            Whether the `Cache-Control` and `Pragma` of requests count (RFC 9111 §5.2.1), with which a client can cause a
            request to the origin each time; else they are ignored.
            """)
        Setting(
            "maxRefreshes", \.maxRefreshes, in: 1...10_000,
            "Refreshes in the background at once; beyond it a stale copy is served without one.")
        Setting(
            "refreshPause", \.refreshPause, in: .zero...(.hours(1)),
            "Time between a refresh in the background that failed and the next one of the same source.")
    }

    /// What any lifetime may be.
    fileprivate static let longest = TimeSpan.zero...TimeSpan.days(36_500)

    /// A lifetime that grows with the time since `Last-Modified`, for responses that name none (RFC 9111
    /// §4.2.2). Configuration: `freshness.heuristic`.
    package struct Heuristic: SettingGroup {
        package var factor = 0.0
        package var minimum = TimeSpan.hours(1)
        package var maximum = TimeSpan.days(7)

        /// Creates the defaults.
        package init() {}

        package static let settings = SettingTable<Self>(
            "The lifetime that replaces `default` for a response with `Last-Modified`.", reload: .takes
        ) {
            Setting(
                "factor", \.factor, in: 0...1,
                """
                The share of the time since `Last-Modified` that is a response's lifetime where the origin names none;
                RFC 9111 §4.2.2 names 0.1 as usual. With 0 such responses get `freshness.default`.
                """)
            Setting(
                "minimum", \.minimum, in: longest,
                "The minimum of a lifetime that `factor` gives; at most `freshness.heuristic.maximum`.")
            Setting("maximum", \.maximum, in: longest, "The maximum of a lifetime that `factor` gives.")
        }
    }
}
