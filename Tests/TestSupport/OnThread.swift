// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// Runs blocking work on a thread of its own, so that waiting for a process or a socket holds up no other test.
public func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        // A queue of its own has a thread of its own when it blocks; the global ones share a few.
        DispatchQueue(label: "on-thread").async {
            continuation.resume(with: Result { try work() })
        }
    }
}
