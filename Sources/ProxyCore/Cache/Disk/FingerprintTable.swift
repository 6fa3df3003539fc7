// SPDX-License-Identifier: Apache-2.0

/// A set of 64-bit fingerprints in 8 to 16 bytes each, whatever its size: open addressing in one array.
///
/// A fingerprint's first slot is its share of the array's length, so that any length will do and growth takes
/// steps of a quarter instead of doublings. Linear probing; removal shifts back what follows, so there are no
/// tombstones. Pure.
struct FingerprintTable {
    /// The number of fingerprints.
    private(set) var count = 0

    /// 0 marks an empty slot.
    private var slots = [UInt64](repeating: 0, count: Self.minCapacity)

    private static let minCapacity = 16
    /// Beyond this load a look-up that finds nothing takes more than about a dozen probes.
    private static let maxLoad = 0.8
    /// Below this load an entry would take more than 16 bytes.
    private static let minLoad = 0.5
    /// The load after growing or shrinking: 11 to 13 bytes an entry, and space before the next step.
    private static let newLoad = 0.64

    /// Creates an empty table.
    init() {}

    /// The memory the slots take, in bytes.
    var byteCount: Int { slots.count * MemoryLayout<UInt64>.stride }

    /// Hot path: whether the fingerprint is in the set.
    func contains(_ fingerprint: UInt64) -> Bool {
        slots[place(of: fingerprint)] == fingerprint
    }

    /// Adds a fingerprint, which must not be 0; false if it was there already.
    mutating func insert(_ fingerprint: UInt64) -> Bool {
        var place = place(of: fingerprint)
        guard slots[place] != fingerprint else { return false }
        if Double(count + 1) > Double(slots.count) * Self.maxLoad {
            resize()
            place = self.place(of: fingerprint)
        }
        slots[place] = fingerprint
        count += 1
        return true
    }

    /// Removes a fingerprint; false if it was not there.
    mutating func remove(_ fingerprint: UInt64) -> Bool {
        let place = place(of: fingerprint)
        guard slots[place] == fingerprint else { return false }
        closeGap(at: place)
        count -= 1
        if slots.count > Self.minCapacity, Double(count) < Double(slots.count) * Self.minLoad { resize() }
        return true
    }

    /// The slot of the fingerprint, or else the empty slot for it.
    private func place(of fingerprint: UInt64) -> Int {
        var place = home(of: fingerprint)
        while slots[place] != 0, slots[place] != fingerprint { place = following(place) }
        return place
    }

    private func home(of fingerprint: UInt64) -> Int {
        Int(truncatingIfNeeded: fingerprint.multipliedFullWidth(by: UInt64(slots.count)).high)
    }

    private func following(_ place: Int) -> Int {
        place + 1 == slots.count ? 0 : place + 1
    }

    /// Empties a slot and moves into it whatever a later look-up would no longer reach.
    private mutating func closeGap(at place: Int) {
        var gap = place
        var next = following(place)
        while slots[next] != 0 {
            if distance(from: home(of: slots[next]), to: next) >= distance(from: gap, to: next) {
                slots[gap] = slots[next]
                gap = next
            }
            next = following(next)
        }
        slots[gap] = 0
    }

    private func distance(from start: Int, to end: Int) -> Int {
        end >= start ? end - start : end - start + slots.count
    }

    private mutating func resize() {
        let capacity = max(Self.minCapacity, Int(Double(count + 1) / Self.newLoad))
        let old = slots
        slots = [UInt64](repeating: 0, count: capacity)
        for fingerprint in old where fingerprint != 0 {
            slots[place(of: fingerprint)] = fingerprint
        }
    }
}
