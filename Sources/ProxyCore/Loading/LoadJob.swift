// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// One call of `load` on its way to the loader's thread.
final class LoadJob: Sendable {
    /// What a call waits on.
    typealias Continuation = CheckedContinuation<Result<LoadSummary, LoadError>, Never>

    /// Names the job in the queue and in a cancellation.
    let id: UInt64
    /// What to ask for.
    let request: OriginRequest
    /// Whom to hand the response to.
    let receiver: any OriginReceiving
    /// Set before a cancellation is posted, so that one that overtakes its own job is not lost.
    let isCancelled = Atomic(false)

    /// Whether the caller has given up.
    var hasBeenCancelled: Bool { isCancelled.load(ordering: .acquiring) }

    init(id: UInt64, request: OriginRequest, receiver: any OriginReceiving) {
        self.id = id
        self.request = request
        self.receiver = receiver
    }
}
