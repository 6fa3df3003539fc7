// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// The rate limit of one client. Configuration: `security.rateLimit`.
package struct RateLimitConfiguration: SettingGroup {
    package var requests = 0
    package var window = TimeSpan.minutes(1)
    package var burst = 0
    var maxClients = 65_536

    /// Creates the defaults.
    package init() {}

    package static let settings = SettingTable<Self>("How often one client may ask.", reload: .takes) {
        Setting(
            "requests", \.requests, in: 1...1_000_000, orZero: "no limit",
            """
            The number of requests of one client in each `window`, on average; beyond it 429 with `Retry-After`.
            """)
        Setting("window", \.window, in: .seconds(1)...(.days(1)), "The period of `requests`.")
        Setting(
            "burst", \.burst, in: 1...1_000_000, orZero: "as many as requests",
            "The number of requests that a client may send at once after a pause.")
        Setting(
            "maxClients", \.maxClients, in: 16...100_000_000,
            """
            The maximum number of clients that are remembered, about 100 bytes each; beyond it the least recent ones are
            forgotten.
            """)
    }
}
