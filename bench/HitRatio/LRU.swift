// SPDX-License-Identifier: Apache-2.0

/// A plain LRU cache, with which the memory tier's policy is compared. Requests are numbered; the oldest item
/// is evicted.
struct LRU {
    private struct Item {
        var cost: Int
        var last: Int
    }

    /// The number of hits.
    private(set) var hits = 0

    private let capacity: Int
    private var items: [UInt64: Item] = [:]
    /// Every request in order; those that are not an item's last are skipped.
    private var asks: [UInt64] = []
    private var oldest = 0
    private var bytes = 0

    /// Creates a cache of at most `capacity` bytes.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Requests a number, which is in the cache afterwards.
    mutating func ask(_ number: UInt64, cost: Int) {
        asks.append(number)
        if items[number] != nil {
            hits += 1
            items[number]?.last = asks.count - 1
            return
        }
        items[number] = Item(cost: cost, last: asks.count - 1)
        bytes += cost
        while bytes > capacity { evictOldest() }
    }

    private mutating func evictOldest() {
        let number = asks[oldest]
        if let item = items[number], item.last == oldest {
            items[number] = nil
            bytes -= item.cost
        }
        oldest += 1
    }
}
