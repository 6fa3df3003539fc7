// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// Blocks a thread, not a task, until it is opened: for code that may not wait otherwise.
public final class DispatchGate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    public init() {}

    /// Waits until the gate is open.
    public func pass() {
        semaphore.wait()
        semaphore.signal()
    }

    /// Opens the gate, now and later.
    public func open() {
        semaphore.signal()
    }
}
