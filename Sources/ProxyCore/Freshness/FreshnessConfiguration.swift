// SPDX-License-Identifier: Apache-2.0

/// How long stored responses may be reused (RFC 9111, RFC 5861).
///
/// Configuration: `freshness`.
package struct FreshnessConfiguration: Sendable, Hashable, Codable {
    /// Freshness lifetime when the origin names none.
    ///
    /// Default 1d.
    package var `default`: TimeSpan = .days(1)
    /// The lifetime that replaces `default` for a response with `Last-Modified` (RFC 9111 §4.2.2).
    package var heuristic = Heuristic()
    /// The least lifetime, whatever the origin says (`no-store` and `private` stay).
    ///
    /// Default 0s.
    package var minimum: TimeSpan = .seconds(0)
    /// The longest lifetime.
    ///
    /// Default 30d.
    package var maximum: TimeSpan = .days(30)
    /// Whether the origin's `Cache-Control` and `Expires` count; else `default` applies to all.
    ///
    /// Default true.
    package var respectOrigin: Bool = true
    /// Fields that replace `Cache-Control` and `Expires` here, if an origin sends them; the first that is
    /// present and valid counts (RFC 9213).
    ///
    /// Default `CDN-Cache-Control`; at most 8.
    package var targets: [String] = ["CDN-Cache-Control"]
    /// How long a stale copy is served while it is revalidated in the background, where the origin names neither this
    /// time nor a lifetime (RFC 5861 §3).
    ///
    /// Default 1d; 0s is off.
    package var staleWhileRevalidate: TimeSpan = .days(1)
    /// How long a stale copy is served in place of an error of the origin, where the origin does not say (RFC 5861 §4).
    ///
    /// Default 7d; 0s is off.
    package var staleIfError: TimeSpan = .days(7)
    /// Whether the `Cache-Control` and `Pragma` of requests count (RFC 9111 §5.2.1); else they are ignored.
    ///
    /// Default false: a client could cause a request to the origin each time.
    package var clientDirectives: Bool = false
    /// Refreshes in the background at once; beyond it a stale copy is served without one.
    ///
    /// Default 32.
    package var maxRefreshes: Int = 32
    /// Time between a refresh in the background that failed and the next one of the same source.
    ///
    /// Default 5s.
    package var refreshPause: TimeSpan = .seconds(5)

    /// Creates the defaults.
    package init() {}

    /// A lifetime that grows with the time since `Last-Modified`, for responses that name none.
    ///
    /// Configuration: `freshness.heuristic`.
    package struct Heuristic: Sendable, Hashable, Codable {
        /// The share of the time since `Last-Modified` that is a response's lifetime where the origin names none; RFC 9111
        /// §4.2.2 names 0.1 as usual. Default 0: such responses get `freshness.default`.
        package var factor: Double = 0
        /// The minimum of a lifetime that `freshness.heuristic.factor` gives. Default 1h.
        package var minimum: TimeSpan = .hours(1)
        /// The maximum of a lifetime that `freshness.heuristic.factor` gives. Default 7d.
        package var maximum: TimeSpan = .days(7)

        /// Creates the defaults.
        package init() {}
    }
}
