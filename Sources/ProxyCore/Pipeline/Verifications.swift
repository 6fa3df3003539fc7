// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Which sources are decoded once more, with the cheapest plan, because a result of theirs has failed, and which have passed.
///
/// Each once at a time, few altogether, and a source that has passed not again for a while: a source that many plans fail on
/// costs one such job in that time. Pure.
struct Verifications: Sendable {
    private var running: Set<CacheKey> = []
    /// Sources that have passed, and until when that counts, in seconds since 1970.
    private var passed = EvictionRing<CacheKey, Int64>(scanLimit: scanLimit)
    private var capacity: Int

    /// Most at once; what fails beyond that is not looked into.
    private static let limit = 8
    /// Most sources that one eviction passes over.
    private static let scanLimit = 64

    /// - Parameter capacity: most sources that have passed.
    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    /// Bounds the sources that have passed.
    mutating func resize(capacity: Int) {
        self.capacity = max(1, capacity)
        passed.shrink(to: self.capacity)
    }

    /// Takes a place; false when the source has one or has passed, or all are taken.
    mutating func begin(_ source: CacheKey, at now: Int64) -> Bool {
        guard running.count < Self.limit, passed.value(for: source) ?? now <= now else { return false }
        return running.insert(source).inserted
    }

    /// Gives the place back.
    /// - Parameter end: until when the source counts as sound; nil where it was not found to be.
    mutating func end(_ source: CacheKey, soundUntil end: Int64?) {
        running.remove(source)
        if let end { passed.store(end, for: source, capacity: capacity) }
    }

    /// Forgets that a source has passed.
    mutating func forget(_ source: CacheKey) { _ = passed.remove(source) }

    /// Forgets all that have passed.
    mutating func forgetAll() { _ = passed.removeAll() }
}
