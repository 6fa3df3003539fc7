// SPDX-License-Identifier: Apache-2.0

package import Primitives
import Synchronization

/// Failures that a retry would not heal soon, each for as long as its class says: the store of the pipeline's `FailedURLs`.
///
/// Bounded by `failedURLs.maxEntries` and by bytes: a full table removes the entry that expires first. Safe
/// from any thread; every call costs O(log n) under one lock. Times are seconds since 1970.
package final class FailedURLCache<Failure: Sendable>: Sendable {
    /// A failure that is still remembered.
    package typealias Remembered = FailedURLTable<Failure>.Entry

    private struct State {
        var table: FailedURLTable<Failure>
        var hits: [FailureClass: Int] = [:]
        var configuration: FailedURLsConfiguration
    }

    private let random: @Sendable () -> Double
    private let share: MemoryShare
    private let state: Mutex<State>

    /// The longest text of a source that is stored for listings, in bytes; a longer one is cut.
    static var maxTextBytes: Int { 1_024 }

    /// Remembers no failure yet.
    /// - Parameters:
    ///   - configuration: times and the number of failures.
    ///   - share: how many bytes it may hold.
    ///   - random: a random number from 0 up to 1.
    package init(
        configuration: FailedURLsConfiguration, share: MemoryShare = MemoryShare(bytes: 16 << 20),
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        self.random = random
        self.share = share
        state = Mutex(
            State(
                table: FailedURLTable(maxEntries: configuration.maxEntries), configuration: configuration))
    }

    /// Applies other settings from now on; remembered failures keep their time.
    package func adopt(_ configuration: FailedURLsConfiguration) {
        change { state in
            state.configuration = configuration
            state.table.resize(maxEntries: configuration.maxEntries)
        }
    }

    /// Remembers a failure for as long as its class says, in place of an earlier one; a class with no time is
    /// not stored.
    ///
    /// Jitter shortens that time by up to `failedURLs.jitter`, so that what failed together is not retried
    /// together.
    ///
    /// - Parameters:
    ///   - source: the source that the key belongs to, if that is not the key itself.
    ///   - text: the source's URL, for listings.
    ///   - most: seconds after which it expires whatever its class says; with 0 an earlier one is removed,
    ///     too.
    ///   - bytes: the memory that the failure takes in addition to its own slot.
    package func remember(
        _ key: CacheKey, _ failure: Failure, as failureClass: FailureClass, ofSource source: CacheKey? = nil,
        _ text: String = "", atMost most: Int64? = nil, bytes: Int = 0,
        at now: Int64
    ) {
        let configuration = state.withLock(\.configuration)
        let longest = min(Int64(failureClass.span(in: configuration).seconds), most ?? .max)
        guard longest > 0 else {
            forget(key)
            return
        }
        let jitter = failureClass.jitter(in: configuration)
        let seconds = max(1, Int64((Double(longest) * (1 - jitter * random())).rounded()))
        let entry = Remembered(
            key: key, source: source ?? key, text: Self.cut(text), failure: failure,
            failureBytes: bytes, failureClass: failureClass, start: now, end: now + seconds)
        let maxBytes = share.limit
        change { $0.table.insert(entry, at: now, maxBytes: maxBytes) }
    }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > maxTextBytes else { return text }
        // A character that the cut divides is replaced.
        return String(decoding: text.utf8.prefix(maxTextBytes), as: UTF8.self) + "…"
    }

    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        let (result, bytes) = state.withLock { state in
            let before = state.table.bytes
            return (body(&state), state.table.bytes - before)
        }
        share.change(by: bytes)
        return result
    }

    /// The failure remembered for `key`, counted as a hit; nil if there is none or it has expired.
    package func lookup(_ key: CacheKey, at now: Int64) -> Remembered? {
        change { state in
            guard let entry = state.table.entry(for: key, at: now) else { return nil }
            state.hits[entry.failureClass, default: 0] += 1
            return entry
        }
    }

    /// The failure remembered for `key`; counts no hit.
    package func peek(_ key: CacheKey, at now: Int64) -> Remembered? {
        change { $0.table.entry(for: key, at: now) }
    }

    /// Seconds until the failure of `key` expires; counts no hit.
    package func remaining(of key: CacheKey, at now: Int64) -> Int64? {
        peek(key, at: now).map { $0.end - now }
    }

    /// The failures of a source and its results, or all, ordered by expiry; counts no hit.
    package func list(source: CacheKey? = nil, limit: Int, at now: Int64) -> [Remembered] {
        change { $0.table.list(source: source, limit: limit, at: now) }
    }

    /// Removes everything about a source, its results too, and returns how many failures that were.
    @discardableResult
    package func forgetAll(ofSource source: CacheKey) -> Int {
        change { $0.table.removeAll(ofSource: source) }
    }

    /// Removes the failure of `key`; false if there was none.
    @discardableResult
    package func forget(_ key: CacheKey) -> Bool {
        change { $0.table.remove(key) }
    }

    /// Removes everything, and returns how many failures that were.
    @discardableResult
    package func forgetAll() -> Int {
        change { $0.table.removeAll() }
    }

    /// How many failures are remembered, by class.
    package func counts(at now: Int64) -> [FailureClass: Int] {
        change { $0.table.counts(at: now) }
    }

    /// How many look-ups found a failure, by its class.
    package var hits: [FailureClass: Int] {
        state.withLock { $0.hits }
    }
}
