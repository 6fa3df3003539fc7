// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Images that are made before clients request them. Configuration: `prefetch`.
struct PrefetchConfiguration: SettingGroup {
    var maxConcurrent = 3
    var queueBytes = ByteCount.mebibytes(16)
    var maxOrders = 128
    var history = 100

    static let settings = SettingTable<Self>(
        "Images that are made before clients request them (see docs/prefetch.md).", reload: .takes
    ) {
        Setting(
            "maxConcurrent", \.maxConcurrent, in: 1...64,
            """
            The number of images that are prefetched at the same time, of all orders. One origin gets at most one less.
            """)
        Setting(
            "queueBytes", \.queueBytes, in: .mebibytes(1)...(.gibibytes(4)),
            "Most bytes of the URLs that wait in all orders, 128 more for each; beyond it 503.")
        Setting(
            "maxOrders", \.maxOrders, in: 1...10_000,
            "The number of orders that run or wait; beyond it 503.")
        Setting(
            "history", \.history, in: 10...1_000,
            "The number of orders that have ended and can still be requested, also after a restart.")
    }
}
