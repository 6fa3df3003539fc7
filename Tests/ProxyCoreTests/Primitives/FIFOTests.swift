// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Primitives

@Suite("First in, first out")
struct FIFOTests {
    private static func filled(_ count: Int) -> FIFO<Int> {
        var fifo = FIFO<Int>()
        for number in 0..<count { fifo.append(number) }
        return fifo
    }

    @Test("Elements are taken in the order in which they came")
    func order() {
        var fifo = Self.filled(5_000)

        let taken = (0..<4_999).compactMap { _ in fifo.popFirst() }

        #expect(taken == Array(0..<4_999) && fifo.indices == 0..<1 && fifo[0] == 4_999)
        #expect(fifo.popFirst() == 4_999 && fifo.popFirst() == nil && fifo.isEmpty)
    }

    @Test("An element is removed from the middle, also behind others that were taken")
    func middle() {
        var fifo = Self.filled(10)
        _ = fifo.popFirst()

        #expect(fifo.remove(at: 2) == 3 && fifo.remove(at: 0) == 1)

        #expect(fifo.indices.map { fifo[$0] } == [2, 4, 5, 6, 7, 8, 9])
    }

    @Test("Elements that are removed by a condition leave the others in their order")
    func condition() {
        var fifo = Self.filled(10)
        _ = fifo.popFirst()

        fifo.removeAll { $0.isMultiple(of: 2) }

        #expect(fifo.indices.map { fifo[$0] } == [1, 3, 5, 7, 9])
    }
}
