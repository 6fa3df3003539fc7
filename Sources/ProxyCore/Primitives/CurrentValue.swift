// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A value that can be replaced while others read it, such as one that a reload changes. Safe from any thread.
package final class CurrentValue<Value: Sendable>: Sendable {
    private let content: Mutex<Value>

    package init(_ value: Value) {
        content = Mutex(value)
    }

    package var value: Value { content.withLock { $0 } }

    package func replace(by other: Value) {
        content.withLock { $0 = other }
    }
}
