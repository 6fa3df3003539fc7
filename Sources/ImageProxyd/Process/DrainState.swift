// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Whether the daemon is shutting down: it is not ready from then on. Safe from any thread.
final class DrainState: Sendable {
    private let hasBegun = Atomic(false)

    /// Whether the daemon is shutting down.
    var isDraining: Bool { hasBegun.load(ordering: .relaxed) }

    /// Makes the daemon not ready.
    func begin() { hasBegun.store(true, ordering: .relaxed) }
}
