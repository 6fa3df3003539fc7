// SPDX-License-Identifier: Apache-2.0

import Freshness
import Primitives
import Synchronization

/// The source records used last, so that most revalidations and disk hits read no database. Safe from any
/// thread.
final class RecordMemory: Sendable {
    private struct State {
        var ring: EvictionRing<CacheKey, SourceRecord>
        /// How many records have been saved or removed, by a part of their keys.
        var revisions = [UInt64](repeating: 0, count: 1_024)

        static func part(of key: CacheKey) -> Int { Int(key.low % 1_024) }
    }

    private let limit: Int
    private let share: MemoryShare
    private let state: Mutex<State>

    /// What a record costs in addition to its texts: its slot, the table's row and the texts' own heads; in
    /// bytes.
    private static let overhead = 512

    /// Creates a table of at most `limit` records, within the bytes of `share`.
    init(limit: Int, share: MemoryShare) {
        self.limit = limit
        self.share = share
        state = Mutex(State(ring: EvictionRing(scanLimit: limit)))
    }

    func record(for key: CacheKey) -> SourceRecord? {
        state.withLock { $0.ring.value(for: key) }
    }

    /// Changes with every record of the source that is saved or removed, and seldom with another one. To be read before the
    /// record is read from disk, and passed to `keep`.
    func revision(of key: CacheKey) -> UInt64 {
        state.withLock { $0.revisions[State.part(of: key)] }
    }

    /// Stores a record that was read from disk, unless one of the source was saved or removed since: it might be outdated.
    func keep(_ record: SourceRecord, readAt revision: UInt64) {
        change { state in
            guard state.revisions[State.part(of: record.key)] == revision else { return }
            insert(record, &state)
        }
    }

    /// Stores a new record; false, and nothing stored, if its token is void.
    func save(_ record: SourceRecord, _ token: PurgeToken?) -> Bool {
        change { state in
            guard token?.isValid ?? true else { return false }
            state.revisions[State.part(of: record.key)] &+= 1
            insert(record, &state)
            return true
        }
    }

    func remove(_ key: CacheKey) {
        change { state in
            state.revisions[State.part(of: key)] &+= 1
            _ = state.ring.remove(key)
        }
    }

    func removeAll() {
        change { state in
            for part in state.revisions.indices { state.revisions[part] &+= 1 }
            _ = state.ring.removeAll()
        }
    }

    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        let (result, bytes) = state.withLock { state in
            let before = state.ring.cost
            return (body(&state), state.ring.cost - before)
        }
        share.change(by: bytes)
        return result
    }

    private func insert(_ record: SourceRecord, _ state: inout State) {
        let cost = record.textBytes + Self.overhead
        let most = share.limit
        guard limit > 0, cost <= most else {
            _ = state.ring.remove(record.key)
            return
        }
        _ = state.ring.insert(record, for: record.key, cost: cost)
        while state.ring.count > limit || state.ring.cost > most, state.ring.evict() != nil {}
    }
}
