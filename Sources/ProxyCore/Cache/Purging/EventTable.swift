// SPDX-License-Identifier: Apache-2.0

import Primitives

/// What the last events left of the keys that they concerned. Bounded by count: when it is full, the older half is
/// dropped. Pure.
struct EventTable<Value: Sendable>: Sendable {
    private var items: [CacheKey: (value: Value, event: UInt64)] = [:]
    /// A key that was set again stands here twice, and the later place counts.
    private var order: [(key: CacheKey, event: UInt64)] = []
    /// The number of the last event that was dropped for lack of space; 0 for none.
    private(set) var lastDropped: UInt64 = 0

    subscript(key: CacheKey) -> Value? { items[key]?.value }

    /// Sets what an event left of a key; events come in the order of their numbers.
    mutating func set(_ value: Value, for key: CacheKey, at event: UInt64, capacity: Int) {
        items[key] = (value, event)
        order.append((key, event))
        guard order.count > capacity else { return }
        let older = order.prefix(order.count / 2)
        for (key, event) in older {
            lastDropped = event
            if items[key]?.event == event { items[key] = nil }
        }
        order.removeFirst(older.count)
    }

    mutating func remove(_ key: CacheKey) { items[key] = nil }

    mutating func removeAll() { (items, order) = ([:], []) }
}
