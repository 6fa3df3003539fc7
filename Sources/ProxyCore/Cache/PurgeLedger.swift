// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Which keys were purged while work was under way, and what has become known of sources: what began before a purge is
/// answered, and kept nowhere, nor is what has been overtaken.
///
/// A purge has a beginning and an end, and what begins in between counts as begun before it. Work takes a permit when it
/// begins; whoever stores asks the permit under the lock, or on the thread, that a purge
/// removes entries under, so that nothing slips in between. Bounded: the keys purged last are told apart, what began
/// before one that is no longer known counts as purged. Safe from any thread; a leaf: it calls nobody.
public final class PurgeLedger: Sendable {
    private struct State {
        /// Purges so far.
        var count: UInt64 = 0
        /// Work that began before this is void.
        var floor: UInt64 = 0
        var purges: [CacheKey: UInt64] = [:]
        var order: [(key: CacheKey, number: UInt64)] = []
        var latest = LatestRecords()
        /// Keys that are being purged, with how many purges do so; bounded by those.
        var underWay: [CacheKey: Int] = [:]
        /// Purges of everything that are under way.
        var sweeps = 0

        func isBeingPurged(_ key: CacheKey) -> Bool { !underWay.isEmpty && underWay[key] != nil }
    }

    private let capacity: Int
    private let state = Mutex(State())

    /// - Parameter capacity: keys that are told apart.
    public init(capacity: Int = 4_096) {
        self.capacity = max(1, capacity)
    }

    /// Leave to store what is now beginning to be made for these keys.
    public func permit(for keys: CacheKey...) -> Permit {
        Permit(ledger: self, keys: keys, number: state.withLock(\.count))
    }

    /// Voids the permits for some keys, of sources or results: those given so far, and those given until `end`.
    ///
    /// Until then the tiers still have what is to go: who finds it there answers with it, and keeps it nowhere.
    func begin(_ keys: some Sequence<CacheKey>) {
        state.withLock { state in
            for key in keys {
                void(key, &state)
                state.underWay[key, default: 0] += 1
            }
        }
    }

    /// Ends what `begin` began with the same keys, once no tier has anything of them.
    func end(_ keys: some Sequence<CacheKey>) {
        state.withLock { state in
            for key in keys {
                void(key, &state)
                let left = (state.underWay[key] ?? 1) - 1
                state.underWay[key] = left > 0 ? left : nil
            }
        }
    }

    /// Voids all permits given so far, and those given until `endAll`.
    func beginAll() {
        state.withLock { state in
            Self.voidAll(&state)
            state.sweeps += 1
        }
    }

    /// Ends what `beginAll` began, once the tiers are empty.
    func endAll() {
        state.withLock { state in
            Self.voidAll(&state)
            state.sweeps -= 1
        }
    }

    private func void(_ key: CacheKey, _ state: inout State) {
        state.count += 1
        state.latest.forget(key)
        state.purges[key] = state.count
        state.order.append((key, state.count))
        if state.order.count > capacity { Self.forgetHalf(&state) }
    }

    private static func voidAll(_ state: inout State) {
        state.count += 1
        state.floor = state.count
        (state.purges, state.order) = ([:], [])
        state.latest.forgetAll()
    }

    private static func forgetHalf(_ state: inout State) {
        let old = state.order.prefix(state.order.count / 2)
        for (key, number) in old {
            state.floor = number
            if state.purges[key] == number { state.purges[key] = nil }
        }
        state.order.removeFirst(old.count)
    }

    fileprivate func isValid(_ permit: Permit, forBody: Bool = false) -> Bool {
        state.withLock { state in
            guard state.sweeps == 0, permit.number >= state.floor,
                permit.keys.allSatisfy({ key in
                    !state.isBeingPurged(key) && state.purges[key].map { $0 <= permit.number } ?? true
                })
            else { return false }
            guard let claim = permit.claim else { return true }
            return forBody ? state.latest.isContentLatest(claim) : state.latest.isLatest(claim)
        }
    }

    /// Makes a record the latest one of its source, for which leave is given until a later one comes; nil where a later one
    /// has come since `permit` was given.
    ///
    /// The origin's `Date` decides which is later (RFC 9111 §4), then when it arrived here. What came before the permit
    /// does not count: who asks again takes the origin's word, whatever its clock says.
    func claim(
        _ record: SourceRecord, arrived: ContinuousClock.Instant, under permit: Permit
    ) -> Permit? {
        state.withLock { state in
            state.count += 1
            let item = LatestRecords.Item(record: record, arrived: arrived, number: state.count)
            guard state.latest.replace(with: item, since: permit.number, capacity: capacity) else {
                return nil
            }
            return Permit(ledger: self, keys: permit.keys, number: permit.number, claim: item)
        }
    }

    /// What an entry made under a permit is to be kept as: as it is, with a later record of the same content, or not at all.
    func current(_ entry: MemoryEntry, under permit: Permit) -> MemoryEntry? {
        guard isValid(permit) else { return nil }
        let source = entry.description.sourceKey
        switch state.withLock({ $0.latest.news(of: source, since: permit.number) }) {
        case .none: return entry
        case .unknown: return nil
        case .record(var record):
            guard record.contentHash == entry.description.sourceHash else { return nil }
            record.keyText = entry.record.keyText
            return record == entry.record ? entry : entry.refreshed(with: record)
        }
    }

    /// Whether what was made under a permit is not known to be of outdated content.
    func admits(_ description: EntryDescription, under permit: Permit) -> Bool {
        switch state.withLock({ $0.latest.news(of: description.sourceKey, since: permit.number) }) {
        case .none, .unknown: true
        case .record(let record): record.contentHash == description.sourceHash
        }
    }

    /// Leave to store, unless one of its keys was purged since it was given.
    public struct Permit: Sendable {
        fileprivate let ledger: PurgeLedger
        fileprivate let keys: [CacheKey]
        fileprivate let number: UInt64
        /// What it is void without: that this is the latest that is known of its source.
        fileprivate var claim: LatestRecords.Item?

        /// Whether what it was given for may be stored.
        public var isValid: Bool { ledger.isValid(self) }

        /// Whether the bytes may be stored, although perhaps a later record of the same ones has come.
        var isValidForBody: Bool { ledger.isValid(self, forBody: true) }

        /// What an entry made under it is to be kept as; nil for not at all.
        func current(_ entry: MemoryEntry) -> MemoryEntry? { ledger.current(entry, under: self) }

        /// Whether nothing is known that makes an entry outdated.
        func admits(_ description: EntryDescription) -> Bool { ledger.admits(description, under: self) }

        /// The same leave for another result as well.
        func extended(to key: CacheKey) -> Permit {
            Permit(ledger: ledger, keys: keys + [key], number: number, claim: claim)
        }
    }
}
