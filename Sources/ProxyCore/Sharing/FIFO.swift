// SPDX-License-Identifier: Apache-2.0

/// First in, first out: an array whose front is removed once half of it is taken, so that each call costs O(1) in the mean. Pure.
struct FIFO<Element: Sendable>: Sendable {
    private var elements: [Element] = []
    private var taken = 0

    var count: Int { elements.count - taken }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard taken < elements.count else { return nil }
        let first = elements[taken]
        taken += 1
        if taken * 2 >= elements.count {
            elements.removeFirst(taken)
            taken = 0
        }
        return first
    }

    mutating func removeAll(where isRemoved: (Element) -> Bool) {
        elements = elements[taken...].filter { !isRemoved($0) }
        taken = 0
    }
}
