// SPDX-License-Identifier: Apache-2.0

/// Runs blocking work on a thread of its own, so that waiting for a process or a socket delays no other test.
///
/// A thread, not a queue: Dispatch has a bounded number of threads for all of its queues, and the servers
/// under test use them.
public func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        startThread {
            continuation.resume(with: Result { try work() })
        }
    }
}
