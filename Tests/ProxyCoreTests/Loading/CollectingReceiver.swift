// SPDX-License-Identifier: Apache-2.0

import TestSupport

@testable import Freshness
@testable import Loading

/// Stores a response; can refuse the head or the body.
final class CollectingReceiver: OriginReceiving {
    struct Received: Sendable {
        var head: OriginHead?
        var bytes: [UInt8] = []
        var pieces = 0
        var drains = 0
    }

    let received = Observed(Received())
    private let headError: LoadError?
    private let bodyError: LoadError?

    init(refusingHead headError: LoadError? = nil, refusingBody bodyError: LoadError? = nil) {
        self.headError = headError
        self.bodyError = bodyError
    }

    var head: OriginHead? { received.value.head }
    var bytes: [UInt8] { received.value.bytes }
    /// The number of pieces of the body.
    var pieces: Int { received.value.pieces }

    /// How often no more bytes were available for a while.
    var drains: Int { received.value.drains }

    func didDrain() { received.update { $0.drains += 1 } }

    func receive(head: OriginHead) throws(LoadError) {
        received.update { $0.head = head }
        if let headError { throw headError }
    }

    func receive(bytes: UnsafeRawBufferPointer) throws(LoadError) {
        let copy = Array(bytes)
        received.update {
            $0.bytes += copy
            $0.pieces += 1
        }
        if let bodyError { throw bodyError }
    }
}
