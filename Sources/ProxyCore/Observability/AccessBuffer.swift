// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The records of one event loop that wait for the writer.
final class AccessBuffer: Sendable {
    private struct State {
        var records: [AccessRecord] = []
        var dropped = 0
    }

    private let capacity: Int
    private let state: Mutex<State>

    /// Creates an empty buffer for `capacity` records, allocated at once.
    init(capacity: Int) {
        self.capacity = capacity
        var state = State()
        state.records.reserveCapacity(capacity)
        self.state = Mutex(state)
    }

    /// Hot path: appends a record or drops it; true if the writer should not wait any longer.
    func append(_ record: AccessRecord) -> Bool {
        state.withLock { state in
            guard state.records.count < capacity else {
                state.dropped += 1
                return false
            }
            state.records.append(record)
            return state.records.count == capacity / 2
        }
    }

    /// Exchanges the records for `spare`, an empty array whose capacity is reused.
    func swap(with spare: inout [AccessRecord]) {
        spare.reserveCapacity(capacity)
        state.withLock { Swift.swap(&$0.records, &spare) }
    }

    /// Whether there is nothing to write.
    var isEmpty: Bool { state.withLock { $0.records.isEmpty } }

    /// Records dropped so far.
    var dropped: Int { state.withLock { $0.dropped } }
}
