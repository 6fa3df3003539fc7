// SPDX-License-Identifier: Apache-2.0

import Primitives
import Synchronization

/// When entries were last served, until the index has been updated: one time per entry, bounded. Safe from
/// any thread.
///
/// Writing an access costs more than the hit itself, so they are collected, and written in rounds in the
/// order in which the index sorts its keys: neighbours are written together.
final class AccessTimes: Sendable {
    private struct State {
        var times: [EntryID: Int64] = [:]
        /// Those of the round that is being written.
        var round: [EntryID: Int64] = [:]
    }

    private let limit: Int
    private let state = Mutex(State())

    /// Creates a table of at most `limit` entries.
    init(limit: Int) {
        self.limit = limit
    }

    /// Hot path: records that an entry was served; true when the table has just become half full.
    func mark(_ id: EntryID, at now: Int64) -> Bool {
        state.withLock { state in
            if let index = state.times.index(forKey: id) {
                state.times.values[index] = now
                return false
            }
            guard state.times.count < limit else { return false }
            state.times[id] = now
            return state.times.count == max(1, limit / 2)
        }
    }

    /// When an entry was served if the index has an earlier time; nil for any other.
    func time(of id: EntryID) -> Int64? {
        state.withLock { $0.times[id] ?? $0.round[id] }
    }

    /// Whether so many wait that they should be written soon.
    var isHalfFull: Bool { state.withLock { $0.times.count >= max(1, limit / 2) } }

    /// Starts a round with everything collected: the entries, in reverse order of the index `entryByKey`. O(n
    /// log n).
    func beginRound() -> [EntryID] {
        let round = state.withLock { state in
            (state.round, state.times) = (state.times, [:])
            return state.round
        }
        return round.keys.sorted { Self.order($0) > Self.order($1) }
    }

    /// Takes entries of the round out.
    func take(_ ids: some Sequence<EntryID>) -> [IndexChange] {
        state.withLock { state in
            let changes = ids.compactMap { id in
                state.round.removeValue(forKey: id).map { IndexChange.recordAccess(id, at: $0) }
            }
            if state.round.isEmpty { state.round = [:] }
            return changes
        }
    }

    private static func order(_ id: EntryID) -> (Int64, Int64, UInt8) {
        (Int64(bitPattern: id.key.low), Int64(bitPattern: id.key.high), id.kind.rawValue)
    }
}
