// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// When entries were served last: written at leisure, for an eviction asks those that wait, too.
///
/// Each access that goes to the index costs more than the hit it tells of. Where a million pictures are asked for at random
/// there are as many as hits, so they get a share of one core and no more; what finds no room meanwhile is forgotten.
extension DiskWriter {
    /// Of the time between two steps, one in so many goes into a step.
    private static let oneIn: UInt64 = 20

    /// Writes some of the accesses that wait, unless it has done so just now; then it is woken when it is time.
    func stepTouches() throws(DiskCacheError) {
        let began = DispatchTime.now().uptimeNanoseconds
        guard housekeeping.withLock({ $0.touchesNotBefore <= began }), try writeTouches() else { return }
        let spent = DispatchTime.now().uptimeNanoseconds - began
        let next = began + spent * Self.oneIn
        housekeeping.withLock { $0.touchesNotBefore = next }
        wake(at: DispatchTime(uptimeNanoseconds: next))
    }

    /// Writes a batch of the accesses that wait; false when there are none, or too few as yet.
    func writeTouches() throws(DiskCacheError) -> Bool {
        let limit = parts.configuration.limits.batchSize
        if housekeeping.withLock({ $0.touches.isEmpty && $0.mustWriteTouches }) || parts.touches.isHalfFull {
            beginRound()
        }
        let changes = housekeeping.withLock { $0.touches.next(limit) }
        try apply(changes)
        return !changes.isEmpty
    }

    private func beginRound() {
        guard housekeeping.withLock({ $0.touches.isEmpty }) else { return }
        let round = TouchRound(parts.touches.takeAll())
        housekeeping.withLock { ($0.touches, $0.mustWriteTouches) = (round, false) }
    }

    /// When an entry was served that the index takes for older, because that has yet to be written; nil for any other.
    func accessToCome(of entry: IndexEntry) -> Int64? {
        guard parts.configuration.expireBy == .access else { return nil }
        let waiting = [
            parts.touches.time(of: entry.id), housekeeping.withLock { $0.touches.time(of: entry.id) },
        ]
        guard let time = waiting.compactMap({ $0 }).max(),
            time - entry.accessedAt > parts.index.accessPrecision
        else { return nil }
        return time
    }
}
