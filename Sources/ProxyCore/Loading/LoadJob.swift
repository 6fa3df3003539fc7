// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// One call of `load` for the loader's thread.
final class LoadJob: Sendable {
    /// The continuation that the caller of `load` awaits.
    typealias Continuation = CheckedContinuation<Result<LoadSummary, LoadError>, Never>

    /// Identifies the job in the queue and in a cancellation.
    let id: UInt64
    let request: OriginRequest
    /// What the request is signed with, at the origin that it names.
    let keys: AWSKeys?
    /// The receiver of the response.
    let receiver: any OriginReceiving
    /// Set before a cancellation is posted, so that a cancellation that overtakes its own job is not lost.
    let isCancelled = Atomic(false)

    /// Whether the caller has cancelled the fetch.
    var hasBeenCancelled: Bool { isCancelled.load(ordering: .acquiring) }

    init(id: UInt64, request: OriginRequest, keys: AWSKeys? = nil, receiver: any OriginReceiving) {
        self.id = id
        self.request = request
        self.keys = keys
        self.receiver = receiver
    }
}
