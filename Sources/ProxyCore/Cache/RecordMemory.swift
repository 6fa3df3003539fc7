// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The source records used last, so that most revalidations and disk hits ask no database. Safe from any thread.
final class RecordMemory: Sendable {
    private struct State {
        var ring: EvictionRing<CacheKey, SourceRecord>
        /// Changes with every record that is saved or forgotten.
        var generation: UInt64 = 0
    }

    private let limit: Int
    private let state: Mutex<State>

    /// Keeps at most `limit` records; one eviction passes over at most `scanLimit`.
    init(limit: Int, scanLimit: Int) {
        self.limit = limit
        state = Mutex(State(ring: EvictionRing(scanLimit: scanLimit)))
    }

    /// Returns a record that is in memory.
    func record(for key: CacheKey) -> SourceRecord? {
        state.withLock { $0.ring.value(for: key) }
    }

    /// To be asked for before a record is read from disk, and handed to `keep`.
    var generation: UInt64 { state.withLock { $0.generation } }

    /// Keeps a record that was read from disk, unless any was saved or forgotten since: it might be out of date.
    func keep(_ record: SourceRecord, readAt generation: UInt64) {
        state.withLock { state in
            guard state.generation == generation else { return }
            insert(record, &state)
        }
    }

    /// Keeps a new record; false, and nothing kept, when its permit is void.
    func save(_ record: SourceRecord, _ permit: PurgeLedger.Permit?) -> Bool {
        state.withLock { state in
            guard permit?.isValid ?? true else { return false }
            state.generation &+= 1
            insert(record, &state)
            return true
        }
    }

    /// Forgets a record.
    func remove(_ key: CacheKey) {
        state.withLock { state in
            state.generation &+= 1
            _ = state.ring.remove(key)
        }
    }

    /// Forgets all records.
    func removeAll() {
        state.withLock { state in
            state.generation &+= 1
            _ = state.ring.removeAll()
        }
    }

    private func insert(_ record: SourceRecord, _ state: inout State) {
        guard limit > 0 else { return }
        if state.ring.peek(record.key) == nil, state.ring.count >= limit { _ = state.ring.evict() }
        _ = state.ring.insert(record, for: record.key, cost: 1)
    }
}
