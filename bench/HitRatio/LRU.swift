// SPDX-License-Identifier: Apache-2.0

/// Least recently used, the plain way: what the memory tier's policy is held against. Asks are numbered; the oldest goes.
struct LRU {
    private struct Item {
        var cost: Int
        var last: Int
    }

    /// Asks that found their number.
    private(set) var hits = 0

    private let capacity: Int
    private var items: [UInt64: Item] = [:]
    /// Every ask in order; those that are not an item's last are passed over.
    private var asks: [UInt64] = []
    private var oldest = 0
    private var bytes = 0

    /// Holds at most `capacity` bytes.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Asks for a number, which is there afterwards.
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
