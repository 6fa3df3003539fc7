// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// The entries of a `FailedURLCache`, found by key and ordered by their end: a binary heap with a dictionary of positions.
package struct FailedURLTable<Failure: Sendable>: Sendable {
    /// One remembered failure.
    package struct Entry: Sendable {
        /// The key that is refused: a source's, or a result's.
        package let key: CacheKey
        /// The key of the source that it concerns; `key` itself, or that of one of its results.
        let source: CacheKey
        /// The source's URL.
        package let text: String
        package let failure: Failure
        /// Bytes of the failure in addition to its own slot.
        var failureBytes = 0
        package let failureClass: FailureClass
        /// When it happened, in seconds since 1970.
        let start: Int64
        /// When it expires, in seconds since 1970.
        package let end: Int64

        /// The memory it takes: its text, its slot in the heap and the rows of two tables; in bytes.
        var cost: Int { text.utf8.count + failureBytes + 320 }
    }

    private var maxEntries: Int
    /// The memory that all entries take, in bytes.
    private(set) var bytes = 0
    /// Each entry ends no later than its two children, at 2i + 1 and 2i + 2.
    private var heap: [Entry] = []
    private var places: [CacheKey: Int] = [:]
    private var classes: [FailureClass: Int] = [:]
    /// The latest time passed to it.
    private var latest: Int64 = 0

    /// By so many seconds a caller that has read the clock may be overtaken before it gets here.
    private static var slack: Int64 { 2 }

    init(maxEntries: Int) {
        self.maxEntries = maxEntries
    }

    /// Changes the maximum number of entries; those that end soonest are removed.
    mutating func resize(maxEntries: Int) {
        self.maxEntries = maxEntries
        while heap.count > maxEntries, let first = heap.first { remove(first.key) }
    }

    /// The number of entries, including expired ones.
    var count: Int { heap.count }

    /// Stores an entry in place of its key's earlier one; a full table removes the one that ends soonest,
    /// which may be the new one.
    /// - Parameter maxBytes: most bytes of all entries.
    mutating func insert(_ entry: Entry, at now: Int64, maxBytes: Int = .max) {
        guard maxEntries > 0, entry.cost <= maxBytes else { return }
        remove(entry.key)
        expire(at: now)
        while heap.count >= maxEntries || bytes > maxBytes - entry.cost, let first = heap.first {
            guard first.end <= entry.end else { return }
            remove(first.key)
        }
        heap.append(entry)
        bytes += entry.cost
        places[entry.key] = heap.count - 1
        classes[entry.failureClass, default: 0] += 1
        rise(from: heap.count - 1)
    }

    /// The entry of `key`, unless it has expired.
    mutating func entry(for key: CacheKey, at now: Int64) -> Entry? {
        follow(now)
        guard let place = places[key] else { return nil }
        guard heap[place].end > now else {
            remove(key)
            return nil
        }
        return heap[place]
    }

    /// Removes the entry of `key`; false if there is none.
    @discardableResult
    mutating func remove(_ key: CacheKey) -> Bool {
        guard let place = places[key] else { return false }
        exchange(place, heap.count - 1)
        let gone = heap.removeLast()
        bytes -= gone.cost
        places[key] = nil
        classes[gone.failureClass, default: 1] -= 1
        if place < heap.count {
            sink(from: place)
            rise(from: place)
        }
        return true
    }

    /// Removes everything about a source, its results too, and returns how many entries that were; O(n).
    mutating func removeAll(ofSource source: CacheKey) -> Int {
        let keys = heap.filter { $0.source == source }.map(\.key)
        for key in keys { remove(key) }
        return keys.count
    }

    /// The entries that end soonest, at most `limit` of them, of one source or of all; O(n log n).
    mutating func list(source: CacheKey?, limit: Int, at now: Int64) -> [Entry] {
        expire(at: now)
        let entries = heap.filter { source == nil || $0.source == source }
        return Array(entries.sorted { $0.end < $1.end }.prefix(limit))
    }

    /// Removes all entries, and returns how many there were.
    mutating func removeAll() -> Int {
        defer { self = FailedURLTable(maxEntries: maxEntries) }
        return count
    }

    /// The number of entries by class, without expired ones.
    mutating func counts(at now: Int64) -> [FailureClass: Int] {
        expire(at: now)
        return classes.filter { $0.value > 0 }
    }

    // MARK: - The heap

    private mutating func expire(at now: Int64) {
        follow(now)
        while let first = heap.first, first.end <= now { remove(first.key) }
    }

    /// Removes what happened later than now: a clock that was set back must not extend its time.
    private mutating func follow(_ now: Int64) {
        guard now < latest - Self.slack else {
            latest = max(latest, now)
            return
        }
        latest = now
        for entry in heap where entry.start > now { remove(entry.key) }
    }

    private mutating func rise(from start: Int) {
        var place = start
        while place > 0, heap[place].end < heap[(place - 1) / 2].end {
            exchange(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private mutating func sink(from start: Int) {
        var place = start
        while let child = soonestChild(of: place), heap[child].end < heap[place].end {
            exchange(place, child)
            place = child
        }
    }

    private func soonestChild(of place: Int) -> Int? {
        let left = place * 2 + 1
        guard left < heap.count else { return nil }
        let right = left + 1
        return right < heap.count && heap[right].end < heap[left].end ? right : left
    }

    private mutating func exchange(_ one: Int, _ other: Int) {
        guard one != other else { return }
        heap.swapAt(one, other)
        places[heap[one].key] = one
        places[heap[other].key] = other
    }
}
