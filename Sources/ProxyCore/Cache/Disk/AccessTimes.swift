// SPDX-License-Identifier: Apache-2.0

import Primitives
import Synchronization

/// When entries were last served, until the next sweep writes that into the index: one time per entry,
/// bounded. Safe from any thread.
///
/// Writing an access costs more than the hit itself, so they are written together, in the order in which the
/// index sorts its keys.
final class AccessTimes: Sendable {
    private let limit: Int
    private let times = Mutex<[EntryID: Int64]>([:])

    /// Creates a table of at most `limit` entries; more are dropped.
    init(limit: Int) {
        self.limit = limit
    }

    /// Hot path: records that an entry was served.
    func mark(_ id: EntryID, at now: Int64) {
        times.withLock { times in
            if let index = times.index(forKey: id) {
                times.values[index] = now
            } else if times.count < limit {
                times[id] = now
            }
        }
    }

    /// Removes and returns all, in the order of the index `entryByKey`. O(n log n).
    func take() -> [(id: EntryID, time: Int64)] {
        let taken = times.withLock { times in
            defer { times = [:] }
            return times
        }
        return taken.map { (id: $0.key, time: $0.value) }.sorted { Self.order($0.id) < Self.order($1.id) }
    }

    private static func order(_ id: EntryID) -> (Int64, Int64, UInt8) {
        (Int64(bitPattern: id.key.low), Int64(bitPattern: id.key.high), id.kind.rawValue)
    }
}
