// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Accesses that wait to be written to the index, one per entry, the latest; bounded.
final class PendingTouches: Sendable {
    private struct State {
        var times: [EntryID: Int64] = [:]
        var dropped = 0
    }

    private let limit: Int
    private let state = Mutex(State())

    /// Keeps at most `limit` entries.
    init(limit: Int) {
        self.limit = limit
    }

    /// Hot path: remembers that an entry was served; true when the table has just become half full.
    func mark(_ id: EntryID, at now: Int64) -> Bool {
        state.withLock { state in
            if let index = state.times.index(forKey: id) {
                state.times.values[index] = now
                return false
            }
            guard state.times.count < limit else {
                state.dropped += 1
                return false
            }
            state.times[id] = now
            return state.times.count == max(1, limit / 2)
        }
    }

    /// When an entry was served whose access waits; nil for any other.
    func time(of id: EntryID) -> Int64? { state.withLock { $0.times[id] } }

    /// Whether so many wait that they should be written soon.
    var isHalfFull: Bool { state.withLock { $0.times.count >= max(1, limit / 2) } }

    /// Takes everything out.
    func takeAll() -> [EntryID: Int64] {
        state.withLock { state in
            defer { state.times = [:] }
            return state.times
        }
    }

    /// Accesses that were forgotten because the table was full.
    var dropped: Int { state.withLock { $0.dropped } }
}
