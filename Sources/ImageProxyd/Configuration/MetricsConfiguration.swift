// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Where `/metrics` is answered, beside the admin listener. Configuration: `metrics`.
struct MetricsConfiguration: SettingGroup {
    var `public` = Exposure.auto
    var listen: [String] = []

    /// Whether the listener of clients answers `/metrics`.
    enum Exposure: String, SettingValue, CaseIterable {
        /// While only local clients reach it, and there is no other address for metrics.
        case auto
        case always
        case never
    }

    static let settings = SettingTable<Self>(
        "Where `/metrics` is answered, beside the admin listener.", reload: .needsRestart
    ) {
        Setting(
            "public", \.public, reload: .takes,
            """
            Whether `listen` answers `/metrics`, too; `auto`: while it is loopback or unix sockets alone, `metrics.listen` is
            empty, and `admin.listen` is `auto`.
            """)
        Setting(
            "listen", \.listen,
            """
            Addresses as in `listen` that answer `/metrics`, `/healthz`, `/readyz` and `/docs/` alone, without a token: for
            Prometheus on another machine. Empty: none.
            """)
    }
}
