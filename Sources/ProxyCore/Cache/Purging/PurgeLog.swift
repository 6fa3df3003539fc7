// SPDX-License-Identifier: Apache-2.0

package import Freshness
package import Primitives
import Synchronization

/// Which keys were purged while work was in progress, and the latest records of sources: what began before a
/// purge is answered, and not stored, nor is what is outdated. It has the numbers of events that tokens are compared with,
/// not a list of purges.
///
/// A purge has a beginning and an end, and what begins in between counts as begun before it. Work takes a
/// token when it begins. A store checks its token under the same lock, or on the same thread, as a purge
/// removes entries, so that nothing is stored in between. Bounded: the last purged keys are
/// distinguished; what began before one that was dropped counts as purged. Safe from any thread; calls no
/// other component.
package final class PurgeLog: Sendable {
    fileprivate struct State {
        /// Events so far: purges and claims.
        var count: UInt64 = 0
        /// The number of the last purge of everything.
        var lastOfAll: UInt64 = 0
        /// The number of the last purge of each key.
        var purges = EventTable<UInt64>()
        var latest = LatestRecords()
        /// Keys that are being purged, with the number of their purges; bounded by those.
        var underWay: [CacheKey: Int] = [:]
        /// Purges of everything, or of a prefix, that are in progress.
        var purgesOfAll = 0

        /// Work that began before this is void.
        var floor: UInt64 { max(lastOfAll, purges.lastDropped) }

        func isBeingPurged(_ key: CacheKey) -> Bool { !underWay.isEmpty && underWay[key] != nil }
    }

    private let capacity: Int
    fileprivate let state = Mutex(State())

    /// - Parameter capacity: the number of keys that are distinguished.
    package init(capacity: Int = 4_096) {
        self.capacity = max(1, capacity)
    }

    /// Issues a token to store what is now beginning to be made for these keys.
    package func token(for keys: CacheKey...) -> PurgeToken {
        PurgeToken(purgeLog: self, keys: keys, number: state.withLock(\.count))
    }

    /// Voids the tokens for some keys, of sources or results: those issued so far, and those issued until
    /// `end`.
    ///
    /// Until then the tiers still have what is to be removed: a request that finds it is answered with it,
    /// and does not store it.
    package func begin(_ keys: some Sequence<CacheKey>) {
        state.withLock { state in
            for key in keys {
                void(key, &state)
                state.underWay[key, default: 0] += 1
            }
        }
    }

    /// Ends what `begin` began with the same keys, once no tier has anything of them.
    package func end(_ keys: some Sequence<CacheKey>) {
        state.withLock { state in
            for key in keys {
                void(key, &state)
                let left = (state.underWay[key] ?? 1) - 1
                state.underWay[key] = left > 0 ? left : nil
            }
        }
    }

    /// Voids all tokens issued so far, and those issued until `endAll`.
    package func beginAll() {
        state.withLock { state in
            Self.voidAll(&state)
            state.purgesOfAll += 1
        }
    }

    /// Ends what `beginAll` began, once the tiers are empty.
    package func endAll() {
        state.withLock { state in
            Self.voidAll(&state)
            state.purgesOfAll -= 1
        }
    }

    /// Whether everything, or sources by their URLs' beginning, are being purged: nothing may be stored until that ends.
    package var isPurgingAll: Bool { state.withLock { $0.purgesOfAll > 0 } }

    private func void(_ key: CacheKey, _ state: inout State) {
        state.count += 1
        state.latest.forget(key)
        state.purges.set(state.count, for: key, at: state.count, capacity: capacity)
    }

    private static func voidAll(_ state: inout State) {
        state.count += 1
        state.lastOfAll = state.count
        state.purges.removeAll()
        state.latest.forgetAll()
    }

    /// Makes a record the latest one of its source, and returns a token until a later one comes; nil if a
    /// later one has come since `token` was issued.
    ///
    /// The origin's `Date` decides which is later (RFC 9111 §4), then the response time. What came before the
    /// token does not count: a new request takes the origin's present answer, whatever its clock says.
    package func claim(
        _ record: SourceRecord, receivedAt: ContinuousClock.Instant, under token: PurgeToken
    ) -> PurgeToken? {
        state.withLock { state in
            state.count += 1
            let item = LatestRecords.Item(record: record, receivedAt: receivedAt, number: state.count)
            guard state.latest.replace(with: item, since: token.number, capacity: capacity) else {
                return nil
            }
            return PurgeToken(purgeLog: self, keys: token.keys, number: token.number, claim: item)
        }
    }
}

/// A token to store, valid unless one of its keys was purged since it was issued.
///
/// | asked before | | what makes the answer no |
/// |---|---|---|
/// | a record, or an entry, is written to disk | `isValid` | a purge; under a claim also a later record |
/// | bytes are written whose record is written apart | `isValidForBody` | a purge; under a claim also a record of other bytes |
/// | an entry goes into memory, which must have the latest record | `current` | a purge, or a record of other bytes |
/// | work is spent on a store, which then asks one of the above | `knowsNewerContent` | a record of other bytes; no purge |
package struct PurgeToken: Sendable {
    fileprivate let purgeLog: PurgeLog
    fileprivate let keys: [CacheKey]
    fileprivate let number: UInt64
    /// It is void unless this is the latest record of its source.
    fileprivate var claim: LatestRecords.Item?

    /// Whether what it was issued for may be stored.
    package var isValid: Bool { isValid { $0.isLatest($1) } }

    /// Whether the bytes may be stored, although perhaps a later record of the same ones has come.
    var isValidForBody: Bool { isValid { $0.isContentLatest($1) } }

    private func isValid(_ isCurrent: (LatestRecords, LatestRecords.Item) -> Bool) -> Bool {
        purgeLog.state.withLock { state in
            guard state.purgesOfAll == 0, number >= state.floor,
                keys.allSatisfy({ key in
                    !state.isBeingPurged(key) && state.purges[key].map { $0 <= number } ?? true
                })
            else { return false }
            return claim.map { isCurrent(state.latest, $0) } ?? true
        }
    }

    /// The entry to store under it: as it is, with a later record of the same content, or nil for none.
    func current(_ entry: MemoryEntry) -> MemoryEntry? {
        guard isValid else { return nil }
        switch change(of: entry.description.sourceKey) {
        case .none: return entry
        case .unknown: return nil
        case .record(var record):
            guard record.contentHash == entry.description.sourceHash else { return nil }
            record.keyText = entry.record.keyText
            return record == entry.record ? entry : entry.refreshed(with: record)
        }
    }

    /// Whether other content of an entry's source has come since the token was issued; says nothing of purges.
    package func knowsNewerContent(than description: EntryDescription) -> Bool {
        switch change(of: description.sourceKey) {
        case .none, .unknown: false
        case .record(let record): record.contentHash != description.sourceHash
        }
    }

    /// What has come of a source since the token was issued.
    private func change(of source: CacheKey) -> LatestRecords.Change {
        purgeLog.state.withLock { $0.latest.change(of: source, since: number) }
    }

    /// The same token for another result as well.
    package func extended(to key: CacheKey) -> PurgeToken {
        PurgeToken(purgeLog: purgeLog, keys: keys + [key], number: number, claim: claim)
    }
}
