// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Bytes of objects that may be in memory at the same time. Safe from any thread.
package final class ByteBudget: Sendable {
    private let limit: Int
    private let used = Mutex(0)

    /// - Parameter limit: in bytes.
    package init(_ limit: Int) { self.limit = limit }

    /// Whether so many bytes are left; they are then taken until `release`. One object alone is always permitted.
    package func reserve(_ count: Int) -> Bool {
        used.withLock { used in
            guard used == 0 || used + count <= limit else { return false }
            used += count
            return true
        }
    }

    /// Gives back what `reserve` took.
    package func release(_ count: Int) { used.withLock { $0 -= count } }
}
