// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Primitives

@Suite("Eviction ring")
struct EvictionRingTests {
    private func ring(_ keys: ClosedRange<Int>, scanLimit: Int = 1_000) -> EvictionRing<Int, String> {
        var ring = EvictionRing<Int, String>(scanLimit: scanLimit)
        for key in keys { _ = ring.insert("\(key)", for: key, cost: 10) }
        return ring
    }

    @Test("Entries without a hit are evicted in the order of insertion")
    func leavesInOrder() {
        var ring = ring(1...3)

        let order = (1...3).compactMap { _ in ring.evict()?.key }

        #expect(order == [1, 2, 3])
        #expect(ring.evict() == nil)
        #expect(ring.count == 0 && ring.cost == 0)
    }

    @Test("An entry with a hit gets a second chance, and only one")
    func givesSecondChance() {
        var ring = ring(1...3)
        _ = ring.value(for: 1)

        let order = (1...3).compactMap { _ in ring.evict()?.key }

        #expect(order == [2, 3, 1])
    }

    @Test("A scan evicts itself and not what is used")
    func resistsScans() {
        var ring = ring(1...10)
        for key in 1...10 { _ = ring.value(for: key) }

        for key in 100..<1_100 {
            _ = ring.insert("scan", for: key, cost: 10)
            for key in 1...10 where key.isMultiple(of: 2) { _ = ring.value(for: key) }
            if ring.count > 20 { _ = ring.evict() }
        }

        for key in [2, 4, 6, 8, 10] { #expect(ring.peek(key) == "\(key)") }
    }

    @Test("A look-up that does not count as a hit gives no second chance")
    func peekingLeavesNoTrace() {
        var ring = ring(1...2)

        let peeked = ring.peek(1)

        #expect(peeked == "1")
        #expect(ring.evict()?.key == 1)
    }

    @Test("The hand passes over a bounded number of entries")
    func boundsTheScan() {
        var ring = ring(1...100, scanLimit: 5)
        for key in 1...100 { _ = ring.value(for: key) }

        #expect(ring.evict()?.key == 6)
    }

    @Test("A replaced value keeps the count and has its own cost")
    func replacesInPlace() {
        var ring = ring(1...2)

        let old = ring.insert("new", for: 1, cost: 25)

        #expect(old == "1" && ring.value(for: 1) == "new")
        #expect(ring.count == 2 && ring.cost == 35)
    }

    @Test("A bounded store replaces a value in place, and evicts another one for a new key")
    func storesWithinCapacity() {
        var ring = EvictionRing<Int, Int>(scanLimit: 8)
        for key in 0..<5 { ring.store(key, for: key, capacity: 3) }
        ring.store(40, for: 4, capacity: 3)

        #expect((0..<5).map { ring.peek($0) } == [nil, nil, 2, 3, 40])
        ring.shrink(to: 1)
        #expect(ring.count == 1)
    }

    @Test("Any order of insertions, look-ups, removals and evictions keeps count and cost right")
    func staysConsistent() {
        var ring = EvictionRing<Int, Int>(scanLimit: 8)
        var model: [Int: Int] = [:]
        var random = SplitMix(seed: 7)
        for step in 0..<20_000 {
            let key = Int(random.next() % 64)
            switch random.next() % 4 {
            case 0:
                _ = ring.insert(step, for: key, cost: key)
                model[key] = step
            case 1: #expect(ring.value(for: key) == model[key])
            case 2: #expect(ring.remove(key) == model.removeValue(forKey: key))
            default:
                guard let gone = ring.evict() else { continue }
                #expect(model.removeValue(forKey: gone.key) == gone.value)
            }
            #expect(ring.count == model.count && ring.cost == model.keys.reduce(0, +))
        }
        #expect(ring.removeAll().count == model.count && ring.cost == 0)
    }
}
