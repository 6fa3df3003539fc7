// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The number of connections of each loop, so that new ones are given to the loop with the fewest. From any
/// thread.
final class LoopBalance: Sendable {
    /// How many loops there are.
    let count: Int
    private let loads: Mutex<[Int]>
    private let inboxes = Mutex<[LoopInbox]>([])

    init(loops: Int) {
        count = loops
        loads = Mutex(Array(repeating: 0, count: loops))
    }

    /// Adds the next loop's inbox.
    func join(_ inbox: LoopInbox) {
        inboxes.withLock { $0.append(inbox) }
    }

    /// Counts a new connection and returns its loop: the one with the fewest, `index` among equals.
    func take(preferring index: Int) -> Int {
        loads.withLock { loads in
            var owner = index
            for other in loads.indices where loads[other] < loads[owner] { owner = other }
            loads[owner] += 1
            return owner
        }
    }

    /// Counts a new connection of this loop.
    func take(at index: Int) -> Int {
        loads.withLock { $0[index] += 1 }
        return index
    }

    /// Counts a connection that has ended.
    func leave(_ index: Int) {
        loads.withLock { $0[index] -= 1 }
    }

    /// Connections of each loop.
    var byLoop: [Int] { loads.withLock { $0 } }

    func inbox(of index: Int) -> LoopInbox {
        inboxes.withLock { $0[index] }
    }
}
