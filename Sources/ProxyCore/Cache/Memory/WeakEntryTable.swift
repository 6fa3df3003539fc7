// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Evicted entries that may still be in use, as answers are sent from them: found again at no cost while they
/// are (SDWebImage: shouldUseWeakMemoryCache).
///
/// Weak references. Bounded: a full table first removes those that are released, then all. Pure.
struct WeakEntryTable: Sendable {
    private struct Reference: Sendable {
        let source: CacheKey
        weak var entry: MemoryEntry?
    }

    private let capacity: Int
    private var references: [CacheKey: Reference] = [:]
    /// The number of entries of each source.
    private var counts: [CacheKey: Int] = [:]

    /// Creates a table of at most `capacity` entries.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Stores an evicted entry.
    mutating func insert(_ entry: MemoryEntry) {
        if references.count >= capacity { keep { $0.entry != nil } }
        if references.count >= capacity { removeAll() }
        guard capacity > 0 else { return }
        let source = entry.description.sourceKey
        let old = references.updateValue(
            Reference(source: source, entry: entry), forKey: entry.description.key)
        if let old { forget(old.source) }
        counts[source, default: 0] += 1
    }

    /// Removes and returns an entry that is still in use.
    mutating func take(_ key: CacheKey) -> MemoryEntry? {
        guard !references.isEmpty, let reference = references.removeValue(forKey: key) else { return nil }
        forget(reference.source)
        return reference.entry
    }

    /// Whether it contains entries of a source.
    func mayHoldEntries(_ source: CacheKey) -> Bool { !counts.isEmpty && counts[source] != nil }

    /// Removes those of a source; O(n) if there are any.
    mutating func removeAll(ofSource source: CacheKey) {
        if mayHoldEntries(source) { keep { $0.source != source } }
    }

    mutating func removeAll() {
        if !references.isEmpty { (references, counts) = ([:], [:]) }
    }

    private mutating func keep(where isKept: (Reference) -> Bool) {
        references = references.filter { isKept($0.value) }
        counts = references.values.reduce(into: [:]) { counts, reference in
            counts[reference.source, default: 0] += 1
        }
    }

    private mutating func forget(_ source: CacheKey) {
        guard let count = counts[source] else { return }
        counts[source] = count > 1 ? count - 1 : nil
    }
}
