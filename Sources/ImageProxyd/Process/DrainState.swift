// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Whether the daemon has been told to end: it is not ready from that moment on. Safe from any thread.
final class DrainState: Sendable {
    private let hasBegun = Atomic(false)

    /// Whether it has been told to.
    var isDraining: Bool { hasBegun.load(ordering: .relaxed) }

    /// Has it not be ready any more.
    func begin() { hasBegun.store(true, ordering: .relaxed) }
}
