// SPDX-License-Identifier: Apache-2.0

/// Entries that were evicted and may still be in use, as answers are sent from them: found again at no cost while they are
/// (SDWebImage: shouldUseWeakMemoryCache).
///
/// Holds nobody alive. Bounded: full, it first forgets those that are gone, then all. Pure.
struct DepartedEntries: Sendable {
    private struct Reference: Sendable {
        weak var entry: MemoryEntry?
    }

    private let capacity: Int
    private var references: [CacheKey: Reference] = [:]

    /// Remembers at most `capacity` entries.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Remembers an entry that leaves.
    mutating func insert(_ entry: MemoryEntry) {
        if references.count >= capacity { references = references.filter { $0.value.entry != nil } }
        if references.count >= capacity { references = [:] }
        guard capacity > 0 else { return }
        references[entry.description.key] = Reference(entry: entry)
    }

    /// Takes out an entry that is still in use.
    mutating func take(_ key: CacheKey) -> MemoryEntry? {
        guard !references.isEmpty else { return nil }
        return references.removeValue(forKey: key)?.entry
    }

    /// Forgets all.
    mutating func removeAll() {
        if !references.isEmpty { references = [:] }
    }
}
