// SPDX-License-Identifier: Apache-2.0

package import Cache
import Primitives
import Synchronization

/// The purges of this node and of others where there is no store, and so no journal. Bounded by count; safe from any thread.
///
/// Times are those of the nodes' own clocks.
package final class SeenPurges: Sendable {
    private struct State {
        /// Of purges that have been done here.
        var names: Set<String> = []
        var order = FIFO<String>()
        var times = PurgeTimes(capacity: SeenPurges.capacity)

        mutating func insert(_ name: String) {
            guard names.insert(name).inserted else { return }
            order.append(name)
            if order.count > SeenPurges.capacity, let oldest = order.popFirst() { names.remove(oldest) }
        }
    }

    private let state = Mutex(State())
    private let clock: @Sendable () -> Int64
    private static let capacity = 4_096

    /// - Parameter clock: seconds since 1970.
    package init(clock: @escaping @Sendable () -> Int64 = SystemTime.seconds) { self.clock = clock }

    /// A purge of this node, now, with a name of its own. It holds here from now on.
    package func newPurge(_ target: PurgeTarget, node: String) -> SharedPurge {
        let now = clock()
        return state.withLock { state in
            var purge = SharedPurge(target, node: node, milliseconds: now * 1_000)
            while state.names.contains(purge.name) { purge.milliseconds += 1 }
            state.times.note(purge.target, at: now)
            state.insert(purge.name)
            return purge
        }
    }

    /// Notes a purge that another node has reported; `didPerform` says when it has been done.
    package func note(_ purge: SharedPurge) -> PurgeJournal.Message {
        let now = clock()
        guard abs(purge.milliseconds / 1_000 - now) <= PurgeJournal.longestDelay else { return .outOfTime }
        return state.withLock { state in
            guard !state.names.contains(purge.name) else { return .known }
            state.times.note(purge.target, at: now)
            return .new
        }
    }

    /// Notes that a purge has been done here. Until then each message of it is new.
    package func didPerform(_ purge: SharedPurge) {
        state.withLock { $0.insert(purge.name) }
    }

    /// Whether a picture that was fetched so many seconds ago is from before a purge that concerns it.
    package func isPurged(_ subject: SharedSubject, ofAge age: Int64) -> Bool {
        let time = clock() - age
        return state.withLock { $0.times.isPurged(subject, tags: [], madeAt: time) }
    }
}
