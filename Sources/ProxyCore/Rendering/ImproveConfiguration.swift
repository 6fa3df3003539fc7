// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// Results in formats that have a fast effort are made with that, and once more with full effort when they are
/// requested again and workers have nothing else to do. Configuration: `transform.improve`.
package struct ImproveConfiguration: SettingGroup {
    package var enabled = true
    package var queue = 256
    package var maxAge = TimeSpan.seconds(60)

    /// Creates the defaults.
    package init() {}

    package static let settings = SettingTable<Self>(
        "Better results in place of those that were made quickly.", reload: .takes
    ) {
        Setting(
            "enabled", \.enabled,
            """
            Whether results in AVIF and JPEG XL, which are made with the fast effort first, are made again with the full
            effort when they are requested again and workers are idle.
            """)
        Setting(
            "queue", \.queue, in: 1...100_000,
            """
            The maximum number of results that wait to be made again, with at most 4 MiB of URLs and plans altogether;
            clients take turns, and one with many gives places up to others. Beyond it a result waits for its next request.
            """)
        Setting(
            "maxAge", \.maxAge, in: .zero...(.days(1)),
            "The maximum `max-age` of a result that will be made again, counted from when it was made.")
    }
}
