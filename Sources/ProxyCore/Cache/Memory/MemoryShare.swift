// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The part of `cache.memory.maxBytes` that one table beside the memory tier's entries may hold.
///
/// The entries' bound is lowered by what the table holds, so that both together stay within the setting. Safe
/// from any thread. The table calls `change` outside its own lock.
package final class MemoryShare: Sendable {
    private let cache: MemoryCache?
    private let divisor: Int
    private let least: Int
    private let held = Atomic<Int>(0)

    /// A part of a memory tier's bound: its bytes divided by `divisor`, but at least `least`. It follows that
    /// bound.
    package init(of cache: MemoryCache, dividedBy divisor: Int, atLeast least: Int = 0) {
        (self.cache, self.divisor, self.least) = (cache, divisor, least)
    }

    /// A part that belongs to no tier.
    package init(bytes: Int) {
        (cache, divisor, least) = (nil, 1, bytes)
    }

    /// Most bytes that the table may hold now.
    package var limit: Int { max(least, cache.map { $0.maxBytes / divisor } ?? 0) }

    /// How many bytes it holds.
    package var bytes: Int { held.load(ordering: .relaxed) }

    /// Records that the table holds so many bytes more, or fewer.
    package func change(by bytes: Int) {
        guard bytes != 0 else { return }
        held.wrappingAdd(bytes, ordering: .relaxed)
        cache?.reserve(bytes)
    }

    deinit { cache?.reserve(-held.load(ordering: .relaxed)) }
}
