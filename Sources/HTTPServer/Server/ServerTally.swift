// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What the server counts; from any thread.
final class ServerTally: Sendable {
    private let counts = Mutex(HTTPServer.Counts())

    var snapshot: HTTPServer.Counts { counts.withLock { $0 } }

    /// Counts a connection in, and returns how many there are with it; nil when there are `limit` already.
    func opened(limit: Int) -> Int? {
        counts.withLock { counts in
            guard counts.connections < limit else { return nil }
            counts.connections += 1
            counts.accepted += 1
            return counts.connections
        }
    }

    /// Counts a connection out.
    func closed() {
        counts.withLock { $0.connections -= 1 }
    }

    func reject(_ reason: HTTPServer.RejectionReason) {
        counts.withLock { $0.rejected[reason, default: 0] += 1 }
    }
}
