// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Which sources are decoded once more, with the cheapest plan, because a result of theirs has failed, and which have passed.
///
/// Each once at a time, few altogether, and a source that has passed not again for a while: a source that many plans fail on
/// costs one such job in that time. Pure.
struct Verifications: Sendable {
    private var running: Set<CacheKey> = []
    /// Sources that have passed, and until when that counts, in seconds since 1970.
    private var passed: [CacheKey: Int64] = [:]
    /// The same, the oldest first.
    private var order: [CacheKey] = []
    private var capacity: Int

    /// Most at once; what fails beyond that is not looked into.
    private static let limit = 8

    /// - Parameter capacity: most sources that have passed.
    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    /// Bounds the sources that have passed; the oldest go.
    mutating func resize(capacity: Int) {
        self.capacity = max(1, capacity)
        trim()
    }

    /// Takes a place; false when the source has one or has passed, or all are taken.
    mutating func begin(_ source: CacheKey, at now: Int64) -> Bool {
        guard running.count < Self.limit, passed[source] ?? now <= now else { return false }
        return running.insert(source).inserted
    }

    /// Gives the place back.
    /// - Parameter end: until when the source counts as sound; nil where it was not found to be.
    mutating func end(_ source: CacheKey, soundUntil end: Int64?) {
        running.remove(source)
        guard let end else { return }
        if passed.updateValue(end, forKey: source) == nil { order.append(source) }
        trim()
    }

    /// Forgets that a source has passed.
    mutating func forget(_ source: CacheKey) {
        guard passed.removeValue(forKey: source) != nil else { return }
        order.removeAll { $0 == source }
    }

    /// Forgets all that have passed.
    mutating func forgetAll() { (passed, order) = ([:], []) }

    private mutating func trim() {
        guard order.count > capacity else { return }
        for source in order.prefix(order.count - capacity) { passed[source] = nil }
        order.removeFirst(order.count - capacity)
    }
}
