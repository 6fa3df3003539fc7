// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Which pictures were asked for lately, so that those alone that are asked for again come nearer: who looks through a
/// million once drives nobody out. A table of fixed size in which the later takes the place of the earlier. Safe from any
/// thread.
final class Familiarity: Sendable {
    private struct State {
        var marks = [UInt32](repeating: 0, count: Familiarity.capacity)
        var again = 0
        var isCrowded = false
    }

    private let state = Mutex(State())

    /// Pictures told apart, 4 bytes each.
    private static let capacity = 65_536
    /// Where it is crowded, one of so many repeated sightings counts: more pictures than there is room for would only
    /// take turns else.
    private static let oneIn = 64
    /// Repeated sightings between two looks at how crowded it is.
    private static let lookInterval = 256

    /// Notes that a picture is asked for; true for one that has been seen lately.
    ///
    /// - Parameter isCrowded: asked now and then, whether others have had to leave where it would go.
    func isFamiliar(_ key: CacheKey, isCrowded: () -> Bool) -> Bool {
        let place = Int(truncatingIfNeeded: key.high) & (Self.capacity - 1)
        let mark = UInt32(truncatingIfNeeded: key.low) | 1
        return state.withLock { state in
            guard state.marks[place] == mark else {
                state.marks[place] = mark
                return false
            }
            if state.again % Self.lookInterval == 0 { state.isCrowded = isCrowded() }
            state.again &+= 1
            return !state.isCrowded || state.again % Self.oneIn == 0
        }
    }
}
