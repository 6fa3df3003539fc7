// SPDX-License-Identifier: Apache-2.0

package import Cache
package import Primitives

/// A failure that is remembered until its end.
package struct RememberedFailure: Sendable {
    /// The key that is refused: a source's, or a result's.
    package let key: CacheKey
    /// The key of the source that it concerns.
    let source: CacheKey
    /// The source's URL, for listings.
    package let text: String
    package let failure: PipelineError
    package let failureClass: FailureClass
    /// When it happened, in seconds since 1970.
    let start: Int64
    /// When it expires, in seconds since 1970.
    package let end: Int64

    /// By so many seconds a caller that has read the clock may be overtaken before it gets here.
    private static let slack: Int64 = 2

    /// Whether it has not expired. A clock that was set back does not extend its time.
    func isCurrent(at now: Int64) -> Bool { start <= now + Self.slack && now < end }

    /// The memory it takes: its texts, its slot and its row of a dictionary; in bytes.
    var cost: Int { text.utf8.count + failure.byteCount + 320 }
}

/// Failures by key, within bounds of number and bytes. Pure.
///
/// Beyond a bound one without recent requests is evicted: many URLs that fail once each do not evict a failure that requests
/// meet again and again.
struct FailureTable: Sendable {
    private var ring = EvictionRing<CacheKey, RememberedFailure>(scanLimit: 64)
    private var maxEntries: Int

    init(maxEntries: Int) {
        self.maxEntries = maxEntries
    }

    /// The memory that all take, in bytes.
    var bytes: Int { ring.cost }

    /// Changes the maximum number.
    mutating func resize(maxEntries: Int) {
        self.maxEntries = maxEntries
        ring.shrink(to: maxEntries)
    }

    /// Adds a failure in place of its key's earlier one.
    /// - Parameter maxBytes: most bytes of all; a failure beyond them is not added.
    mutating func insert(_ failure: RememberedFailure, maxBytes: Int) {
        remove(failure.key)
        guard failure.cost <= maxBytes else { return }
        while ring.count >= maxEntries || ring.cost > maxBytes - failure.cost, ring.evict() != nil {}
        _ = ring.insert(failure, for: failure.key, cost: failure.cost)
    }

    /// The failure of a requested key; an expired one is removed.
    mutating func lookUp(_ key: CacheKey, at now: Int64) -> RememberedFailure? {
        guard let failure = ring.peek(key) else { return nil }
        guard failure.isCurrent(at: now) else {
            remove(key)
            return nil
        }
        return ring.value(for: key)
    }

    /// The failure of a key, which does not count as a request.
    func peek(_ key: CacheKey, at now: Int64) -> RememberedFailure? {
        ring.peek(key).flatMap { $0.isCurrent(at: now) ? $0 : nil }
    }

    /// All failures, in no order; removes the expired ones. O(n).
    mutating func all(at now: Int64) -> [RememberedFailure] {
        let all = Array(ring.keys).compactMap { ring.peek($0) }
        for failure in all where !failure.isCurrent(at: now) { remove(failure.key) }
        return all.filter { $0.isCurrent(at: now) }
    }

    /// Removes the failure of a key; false if there is none.
    @discardableResult
    mutating func remove(_ key: CacheKey) -> Bool { ring.remove(key) != nil }
}
