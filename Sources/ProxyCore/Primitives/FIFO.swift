// SPDX-License-Identifier: Apache-2.0

/// First in, first out: an array whose front is removed once half of it is taken, so that each call costs O(1) in the mean. Pure.
package struct FIFO<Element: Sendable>: Sendable {
    /// Nil where one is taken, which releases it at once.
    private var elements: [Element?] = []
    private var taken = 0

    /// Creates an empty queue.
    package init() {}

    package var count: Int { elements.count - taken }
    package var isEmpty: Bool { count == 0 }

    package mutating func append(_ element: Element) { elements.append(element) }

    package mutating func popFirst() -> Element? {
        guard taken < elements.count else { return nil }
        let first = elements[taken].take()
        taken += 1
        if taken * 2 >= elements.count {
            elements.removeFirst(taken)
            taken = 0
        }
        return first
    }

    package var indices: Range<Int> { 0..<count }

    /// Nil beyond the last one.
    package subscript(index: Int) -> Element? { indices.contains(index) ? elements[taken + index] : nil }

    /// Removes one of the first; O(n) for those further back.
    package mutating func remove(at index: Int) -> Element? {
        index == 0 ? popFirst() : elements.remove(at: taken + index)
    }

    /// O(n).
    package mutating func removeAll(where isRemoved: (Element) -> Bool) {
        elements.removeFirst(taken)
        elements.removeAll { $0.map(isRemoved) ?? true }
        taken = 0
    }
}
