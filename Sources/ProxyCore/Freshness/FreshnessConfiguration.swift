// SPDX-License-Identifier: Apache-2.0

/// How long stored responses may be reused (RFC 9111, RFC 5861).
///
/// Configuration: `freshness`.
public struct FreshnessConfiguration: Sendable, Hashable, Codable {
    /// Freshness lifetime when the origin names none.
    ///
    /// Default 1d.
    public var `default`: TimeSpan = .days(1)
    /// The least lifetime, whatever the origin says (`no-store` and `private` stay).
    ///
    /// Default 0s.
    public var minimum: TimeSpan = .seconds(0)
    /// The longest lifetime.
    ///
    /// Default 30d.
    public var maximum: TimeSpan = .days(30)
    /// Whether the origin's `Cache-Control` and `Expires` count; else `default` holds for all.
    ///
    /// Default true.
    public var respectOrigin: Bool = true

    /// The defaults.
    public init() {}
}
