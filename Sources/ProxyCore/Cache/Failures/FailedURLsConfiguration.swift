// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// Which failures of URLs are remembered (SDWebImage: failedURLs). Configuration: `failedURLs`.
package struct FailedURLsConfiguration: SettingGroup {
    package var maxEntries = 10_000
    package var ttl = TTL()
    var jitter = 0.1
    package var maxRetryAfter = TimeSpan.minutes(1)
    package var breaker = Breaker()

    /// Creates the defaults.
    package init() {}

    package static let settings = SettingTable<Self>("The memory of failed URLs.", reload: .takes) {
        Setting(
            "maxEntries", \.maxEntries, in: 1...10_000_000,
            """
            Most remembered failures, which take at most a 16th of `cache.memory.maxBytes`, 4MiB at least; beyond it one
            without recent requests is removed.
            """)
        Setting.group("ttl", \.ttl)
        Setting(
            "jitter", \.jitter, in: 0...0.5,
            """
            The share of its time by which a failure's time is shortened at random, so that many are not retried at once.
            """)
        Setting(
            "maxRetryAfter", \.maxRetryAfter, in: .zero...(.hours(1)),
            """
            The longest `Retry-After` of an origin that is honoured: a URL that it refuses is not requested for so long;
            0 honours none. `fetch.maxRetryAfter`, which says how much of it is passed on, bounds this, too.
            """)
        Setting.group("breaker", \.breaker)
    }

    /// When an origin (scheme, host and port) gets no requests for a while. Configuration:
    /// `failedURLs.breaker`.
    package struct Breaker: SettingGroup {
        package var failures = 5
        package var pause = TimeSpan.seconds(2)
        package var maximum = TimeSpan.minutes(1)
        package var maxHosts = 10_000

        /// Creates the defaults.
        package init() {}

        package static let settings = SettingTable<Self>(
            "When origins that can't be connected to get no requests.", reload: .takes
        ) {
            Setting(
                "failures", \.failures, in: 1...1_000,
                """
                Consecutive failures to connect (DNS, connection, TLS, `fetch.connectTimeout`), each at most `maximum`
                after the one before; then fetches are refused with 503 `host_unavailable`. Failures after the request was
                sent do not count. As many consecutive answers of 429 to one client stop requests to the origin for that
                client.
                """)
            Setting(
                "pause", \.pause, in: .seconds(1)...(.hours(1)),
                "How long the origin then gets no requests; doubled each time that a probe fails.")
            Setting(
                "maximum", \.maximum, in: .seconds(1)...(.days(1)),
                "The longest such time, also if an origin's `Retry-After` demands more; at least `pause`.")
            Setting(
                "maxHosts", \.maxHosts, in: 1...10_000_000,
                """
                Most origins, and origins for one client, that are watched; beyond it one without recent requests is
                dropped.
                """)
        }
    }

    /// How long each class of failure is remembered.
    package struct TTL: SettingGroup {
        package var notFound = TimeSpan.minutes(5)
        package var clientError = TimeSpan.minutes(1)
        package var notAnImage = TimeSpan.minutes(10)
        package var badImage = TimeSpan.minutes(10)
        package var connection = TimeSpan.minutes(1)
        package var unanswered = TimeSpan.seconds(10)

        /// Creates the defaults.
        package init() {}

        package static let settings = SettingTable<Self>("How long each class is remembered.", reload: .takes)
        {
            Setting("notFound", \.notFound, in: .zero...(.days(30)), "The origin answered 404 or 410.")
            Setting(
                "clientError", \.clientError, in: .zero...(.days(30)),
                "The origin answered another 4xx that a retry will not heal.")
            Setting(
                "notAnImage", \.notAnImage, in: .zero...(.days(30)),
                "Not an image, or none that may be decoded.")
            Setting(
                "badImage", \.badImage, in: .zero...(.days(30)),
                "Too large, too many pixels, damaged, crashed the decoder, took too long.")
            Setting("connection", \.connection, in: .zero...(.days(30)), "TLS failed, or too many redirects.")
            Setting(
                "unanswered", \.unanswered, in: .zero...(.days(30)),
                "The origin accepted the request, and closed the connection or exceeded the timeout.")
        }
    }
}
