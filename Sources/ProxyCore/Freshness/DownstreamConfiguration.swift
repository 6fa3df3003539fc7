// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// What answers say to browsers, and to caches in front of the daemon. Configuration: `downstream`.
package struct DownstreamConfiguration: SettingGroup, Hashable {
    package var browserMaxAge = TimeSpan.zero
    package var sharedMaxAge = TimeSpan.zero
    package var sharedFields = [SharedField.sharedMaxAge]
    package var tagFields: [TagField] = []

    /// A field, or a directive of `Cache-Control`, that says how long caches in front may reuse an answer.
    package enum SharedField: String, SettingValue, CaseIterable {
        /// The directive of `Cache-Control` for all shared caches (RFC 9111 §5.2.2.10).
        case sharedMaxAge = "s-maxage"
        /// The targeted field of content delivery networks (RFC 9213).
        case cdnCacheControl = "CDN-Cache-Control"
        /// Its predecessor, which Fastly and others follow (W3C Edge Architecture Specification).
        case surrogateControl = "Surrogate-Control"
        /// nginx's own, in seconds from now: nginx does not read `Age`.
        case accelExpires = "X-Accel-Expires"
    }

    /// A field that names an answer's tags.
    package enum TagField: String, SettingValue, CaseIterable {
        /// Separated by commas: Cloudflare, Akamai (`Edge-Cache-Tag` by rule), Bunny.
        case cacheTag = "Cache-Tag"
        /// Separated by spaces: Fastly, Varnish.
        case surrogateKey = "Surrogate-Key"
        /// Separated by spaces: Varnish's module of that name.
        case xkey

        /// What stands between two tags.
        package var separator: String { self == .cacheTag ? "," : " " }
    }

    /// Creates the defaults.
    package init() {}

    /// Whether what an answer says depends on its age, so that it differs from one answer to the next.
    package var dependsOnAge: Bool {
        browserMaxAge != .zero || sharedMaxAge != .zero || sharedFields.contains(.accelExpires)
    }

    package static let settings = SettingTable<Self>(
        "What answers say to browsers, and to caches in front of the daemon (see docs/fronts.md).",
        reload: .takes
    ) {
        Setting(
            "browserMaxAge", \.browserMaxAge, in: longest, orZero: "no bound",
            """
            Longest time for which a browser reuses an answer from now on, where the origin permits more: what a purge does not
            reach.
            """)
        Setting(
            "sharedMaxAge", \.sharedMaxAge, in: longest, orZero: "as long as the origin says",
            """
            Time for which caches in front reuse a fresh answer from now on, in place of the origin's; `no-store`, `no-cache`
            and `private` stay.
            """)
        Setting(
            "sharedFields", \.sharedFields,
            """
            How caches in front get their time: `s-maxage` in `Cache-Control`, and fields of their own. Without
            `s-maxage`, caches that know none of the fields do as browsers do.
            """)
        Setting(
            "tagFields", \.tagFields,
            """
            Fields that name an answer's tags, for purges by tag in front: `Cache-Tag`, `Surrogate-Key`, `xkey`; at most 16
            tags of 64 bytes.
            """)
    }

    private static let longest = TimeSpan.seconds(1)...TimeSpan.days(36_500)
}
