// SPDX-License-Identifier: Apache-2.0

import Primitives
import Synchronization

/// Which pictures were asked for lately, so that those alone that are asked for again come nearer: who looks through a
/// million once drives nobody out. A table of fixed size in which the later takes the place of the earlier. Safe from any
/// thread.
final class Familiarity: Sendable {
    /// Where a picture belongs that lies on disk.
    enum Advice {
        /// Where it is.
        case stay
        /// Its file is to be kept open.
        case openFile
        /// In memory.
        case memory
    }

    private struct State {
        var marks = [UInt32](repeating: 0, count: Familiarity.capacity)
        var again = 0
        var memory = Place()
        var files = Place()
    }

    /// How crowded it is where pictures would go.
    private struct Place {
        private var evictions = 0
        var isCrowded = false

        /// Crowded is where others have had to leave since the last look.
        mutating func look(_ now: Int) {
            isCrowded = now != evictions
            evictions = now
        }
    }

    private let state = Mutex(State())

    /// Pictures told apart, 4 bytes each.
    private static let capacity = 65_536
    /// Where it is crowded, one of so many repeated sightings counts: more pictures than there is room for would only
    /// take turns else.
    private static let oneIn = 64
    /// Repeated sightings between two looks at how crowded it is.
    private static let lookInterval = 256

    /// Notes that a picture is asked for, and says what follows for one that has been seen lately.
    ///
    /// - Parameter evictions: asked now and then, how many have had to leave for others so far.
    func advice(
        for key: CacheKey, mayUseMemory: Bool, mayUseFiles: Bool, evictions: () -> (memory: Int, files: Int)
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
