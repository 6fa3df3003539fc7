// SPDX-License-Identifier: Apache-2.0

/// Keyed values with a cost, evicted by SIEVE: a value with a hit since the hand last passed gets a second
/// chance.
///
/// A hit sets a bit and moves nothing, so it writes one byte and allocates nothing. New values are added at
/// the young end, the hand walks from the old end and takes the first value without the bit; a scan of values
/// without a second hit therefore evicts itself and leaves the others (Zhang et al., NSDI 2024). Pure; every
/// call costs O(1), except that `evict` walks over values with a hit, at most `scanLimit` of them.
package struct EvictionRing<Key: Hashable, Value> {
    /// A value that was removed from the ring.
    package struct Evicted {
        let key: Key
        /// The value itself, so that the caller decides where it is freed.
        package let value: Value
    }

    fileprivate struct Slot {
        var key: Key
        /// nil while the slot is free.
        var value: Value?
        var cost: Int
        var wasHit = false
        /// The neighbour towards the young end; in a free slot the next free one.
        var younger: Int
        /// The neighbour towards the old end.
        var older: Int
    }

    /// The sum of all costs.
    package private(set) var cost = 0

    private let scanLimit: Int
    private var places: [Key: Int] = [:]
    private var slots: [Slot] = []
    private var free = Self.none
    private var youngest = Self.none
    private var oldest = Self.none
    /// Where the next eviction begins; `none` means at the old end.
    private var hand = Self.none

    private static var none: Int { -1 }

    /// Creates an empty ring; one eviction skips at most `scanLimit` values with a hit.
    package init(scanLimit: Int) {
        self.scanLimit = scanLimit
    }

    /// The number of values.
    package var count: Int { places.count }

    /// All keys, in no order.
    package var keys: some Collection<Key> { places.keys }

    /// Hot path: returns the value of `key` and sets its hit bit.
    package mutating func value(for key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        slots[place].wasHit = true
        return slots[place].value
    }

    /// Returns the value of `key` without setting its hit bit.
    package func peek(_ key: Key) -> Value? {
        places[key].flatMap { slots[$0].value }
    }

    /// Adds a value at the young end, or in place of the one with the same key, which it returns.
    package mutating func insert(_ value: Value, for key: Key, cost: Int) -> Value? {
        self.cost += cost
        if let place = places[key] {
            defer { slots[place].value = value }
            self.cost -= slots[place].cost
            slots[place].cost = cost
            return slots[place].value
        }
        let place = emptySlot(key: key, value: value, cost: cost)
        places[key] = place
        attachYoungest(place)
        return nil
    }

    /// Replaces an existing value, at the same place, age and cost; false if there is none.
    package mutating func replace(_ value: Value, for key: Key) -> Bool {
        guard let place = places[key] else { return false }
        slots[place].value = value
        return true
    }

    /// Replaces a value, or adds it at cost 1; beyond `capacity` values another one is evicted.
    package mutating func store(_ value: Value, for key: Key, capacity: Int) {
        guard !replace(value, for: key) else { return }
        shrink(to: capacity - 1)
        _ = insert(value, for: key, cost: 1)
    }

    /// Evicts values until there are at most `capacity`.
    package mutating func shrink(to capacity: Int) {
        while count > capacity, evict() != nil {}
    }

    /// Removes a value; nil if there is none.
    package mutating func remove(_ key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        return take(place)?.value
    }

    /// Removes the value at which the hand stops; nil if the ring is empty.
    package mutating func evict() -> Evicted? {
        var place = hand == Self.none ? oldest : hand
        var passed = 0
        while place != Self.none, slots[place].wasHit, passed < scanLimit {
            slots[place].wasHit = false
            place = slots[place].younger == Self.none ? oldest : slots[place].younger
            passed += 1
        }
        guard place != Self.none else { return nil }
        hand = place
        return take(place)
    }

    /// Removes all values, and returns them so that the caller decides where they are freed.
    package mutating func removeAll() -> [Value] {
        let values = slots.compactMap(\.value)
        self = EvictionRing(scanLimit: scanLimit)
        return values
    }

    // MARK: - Slots and their links

    private mutating func emptySlot(key: Key, value: Value, cost: Int) -> Int {
        let slot = Slot(key: key, value: value, cost: cost, younger: Self.none, older: Self.none)
        guard free != Self.none else {
            slots.append(slot)
            return slots.count - 1
        }
        let place = free
        free = slots[place].younger
        slots[place] = slot
        return place
    }

    private mutating func attachYoungest(_ place: Int) {
        slots[place].older = youngest
        if youngest == Self.none { oldest = place } else { slots[youngest].younger = place }
        youngest = place
    }

    private mutating func take(_ place: Int) -> Evicted? {
        let slot = slots[place]
        guard let value = slot.value else { return nil }
        detach(slot, at: place)
        cost -= slot.cost
        places[slot.key] = nil
        slots[place].value = nil
        slots[place].younger = free
        free = place
        return Evicted(key: slot.key, value: value)
    }

    private mutating func detach(_ slot: Slot, at place: Int) {
        if hand == place { hand = slot.younger }
        if slot.older == Self.none { oldest = slot.younger } else { slots[slot.older].younger = slot.younger }
        if slot.younger == Self.none { youngest = slot.older } else { slots[slot.younger].older = slot.older }
    }
}

extension EvictionRing: Sendable where Key: Sendable, Value: Sendable {}
extension EvictionRing.Slot: Sendable where Key: Sendable, Value: Sendable {}
