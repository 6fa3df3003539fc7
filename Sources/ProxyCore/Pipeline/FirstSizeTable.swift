// SPDX-License-Identifier: Apache-2.0

import Imaging
import Primitives

/// Large originals of which something has been made since the start, so that the second size is known as such. Pure.
///
/// Known by the keys of their intermediates, and so apart for each source: one picture under ever new URLs has no second
/// size. Bounded: full, it forgets what it has known longest.
struct FirstSizeTable: Sendable {
    private let capacity: Int
    private var originals: [CacheKey: Rendition.SourceFacts] = [:]
    /// The keys in a ring, from the one that came first.
    private var order: [CacheKey] = []
    private var oldest = 0

    /// Knows nothing yet.
    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    /// What is known of an original; nil when nothing has been made of it.
    func original(_ key: CacheKey) -> Rendition.SourceFacts? { originals[key] }

    /// Notes that something has been made of an original.
    mutating func note(_ original: Rendition.SourceFacts, _ key: CacheKey) {
        guard originals.updateValue(original, forKey: key) == nil else { return }
        guard order.count >= capacity else { return order.append(key) }
        originals[order[oldest]] = nil
        order[oldest] = key
        oldest = (oldest + 1) % capacity
    }
}
