// SPDX-License-Identifier: Apache-2.0

import Primitives
import Synchronization

/// The purges of this node and of others where there is no store, and so no journal. Bounded by count; safe from any thread.
///
/// Times are those of the nodes' own clocks.
package final class SeenPurges: Sendable {
    private struct State {
        var names: Set<String> = []
        var order = FIFO<String>()
        var times = PurgeTimes(capacity: SeenPurges.capacity)
    }

    private let state = Mutex(State())
    private let clock: @Sendable () -> Int64
    private static let capacity = 4_096

    /// - Parameter clock: seconds since 1970.
    package init(clock: @escaping @Sendable () -> Int64 = SystemTime.seconds) { self.clock = clock }

    /// Notes a purge.
    package func note(_ purge: SharedPurge) -> PurgeJournal.Message {
        let now = clock()
        guard abs(purge.milliseconds / 1_000 - now) <= PurgeJournal.longestDelay else { return .outOfTime }
        return state.withLock { state in
            guard state.names.insert(purge.name).inserted else { return .known }
            state.order.append(purge.name)
            if state.order.count > Self.capacity, let oldest = state.order.popFirst() {
                state.names.remove(oldest)
            }
            state.times.note(purge.target, at: now)
            return .new
        }
    }

    /// Whether a picture that was fetched so many seconds ago is from before a purge that concerns it.
    package func isPurged(_ subject: SharedSubject, ofAge age: Int64) -> Bool {
        let time = clock() - age
        return state.withLock { $0.times.isPurged(subject, tags: [], madeAt: time) }
    }
}
