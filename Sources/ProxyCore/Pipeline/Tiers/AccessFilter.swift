// SPDX-License-Identifier: Apache-2.0

import Primitives
import Synchronization

/// The keys that were requested lately, so that only entries that are requested again are promoted (TinyLFU's doorkeeper):
/// one scan through a million pictures evicts none.
///
/// A table of fixed size in which the later key replaces the earlier. Safe from any thread.
final class AccessFilter: Sendable {
    /// Where an entry of the disk tier belongs.
    enum Advice {
        /// On disk alone.
        case stay
        /// On disk, with its file kept open.
        case openFile
        case memory
    }

    private struct State {
        var marks = [UInt32](repeating: 0, count: AccessFilter.capacity)
        var again = 0
        var memory = Place()
        var files = Place()
    }

    /// Whether there is space where entries would be promoted to.
    private struct Place {
        private var evictions = 0
        var isCrowded = false

        /// It is crowded where entries were evicted since the last look.
        mutating func look(_ now: Int) {
            isCrowded = now != evictions
            evictions = now
        }
    }

    private let state = Mutex(State())

    /// The number of keys, 4 bytes each.
    private static let capacity = 65_536
    /// Where it is crowded, one of so many repeated requests promotes: otherwise entries that don't fit would evict one another.
    private static let oneIn = 64
    /// Repeated requests between two looks at how crowded it is.
    private static let lookInterval = 256

    /// Notes a request, and returns where the entry belongs, if it was requested lately.
    ///
    /// - Parameter evictions: called now and then: how many entries were evicted for lack of space so far.
    func noteRequest(
        of key: CacheKey, mayUseMemory: Bool, mayUseFiles: Bool, evictions: () -> (memory: Int, files: Int)
    ) -> Advice {
        let place = Int(truncatingIfNeeded: key.high) & (Self.capacity - 1)
        let mark = UInt32(truncatingIfNeeded: key.low) | 1
        return state.withLock { state in
            guard state.marks[place] == mark else {
                state.marks[place] = mark
                return .stay
            }
            if state.again % Self.lookInterval == 0 {
                let now = evictions()
                state.memory.look(now.memory)
                state.files.look(now.files)
            }
            state.again &+= 1
            let turn = state.again % Self.oneIn
            if mayUseMemory, !state.memory.isCrowded || turn == 0 { return .memory }
            // Not in the same turn, or no file would ever be.
            return mayUseFiles && (!state.files.isCrowded || turn == 1) ? .openFile : .stay
        }
    }
}
