// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Remembers the file that a body outgrew its buffer into.
final class SpillTarget: Sendable {
    private let target = Mutex<OutputTarget?>(nil)

    var value: OutputTarget? { target.withLock { $0 } }

    func set(_ value: OutputTarget) { target.withLock { $0 = value } }
}
