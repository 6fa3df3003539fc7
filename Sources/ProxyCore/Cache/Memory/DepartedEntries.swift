// SPDX-License-Identifier: Apache-2.0

/// Entries that were evicted and may still be in use, as answers are sent from them: found again at no cost while they are
/// (SDWebImage: shouldUseWeakMemoryCache).
///
/// Holds nobody alive. Bounded: full, it first forgets those that are gone, then all. Pure.
struct DepartedEntries: Sendable {
    private struct Reference: Sendable {
        let source: CacheKey
        weak var entry: MemoryEntry?
    }

    private let capacity: Int
    private var references: [CacheKey: Reference] = [:]
    /// How many there are of each source.
    private var counts: [CacheKey: Int] = [:]

    /// Remembers at most `capacity` entries.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Remembers an entry that leaves.
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

    /// Takes out an entry that is still in use.
    mutating func take(_ key: CacheKey) -> MemoryEntry? {
        guard !references.isEmpty, let reference = references.removeValue(forKey: key) else { return nil }
        forget(reference.source)
        return reference.entry
    }

    /// Whether it remembers entries of a source.
    func knows(_ source: CacheKey) -> Bool { !counts.isEmpty && counts[source] != nil }

    /// Forgets those of a source; looks at all there are, where there are some.
    mutating func removeAll(ofSource source: CacheKey) {
        if knows(source) { keep { $0.source != source } }
    }

    /// Forgets all.
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
