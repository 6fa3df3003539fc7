// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Bytes of pictures in memory: in the tier, or only in answers that slow clients still read.
final class MemoryLeases: Sendable {
    private let held = Atomic<Int>(0)

    /// All bytes that are leased now.
    var heldBytes: Int { held.load(ordering: .relaxed) }

    /// Leases so many bytes; nil when more than `limit` would be held then.
    func lease(_ bytes: Int, limit: Int) -> MemoryLease? {
        let held = held.wrappingAdd(bytes, ordering: .relaxed).newValue
        let lease = MemoryLease(bytes, of: self)
        return held <= limit ? lease : nil
    }

    fileprivate func giveBack(_ bytes: Int) {
        held.wrappingSubtract(bytes, ordering: .relaxed)
    }
}

/// A picture's bytes, counted until its last reference is released.
package final class MemoryLease: Sendable {
    private let bytes: Int
    private let leases: MemoryLeases

    fileprivate init(_ bytes: Int, of leases: MemoryLeases) {
        (self.bytes, self.leases) = (bytes, leases)
    }

    deinit { leases.giveBack(bytes) }
}
