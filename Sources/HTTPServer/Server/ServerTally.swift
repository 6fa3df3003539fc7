// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What the server counts; from any thread.
final class ServerTally: Sendable {
    /// What a connection may be used for.
    enum Kind {
        /// Anything.
        case ordinary
        /// Vital requests, for there are too many others.
        case restricted
    }

    private struct State {
        var counts = HTTPServer.Counts()
        /// Connections of these that are restricted.
        var restricted = 0
    }

    private let state = Mutex(State())

    var snapshot: HTTPServer.Counts { state.withLock(\.counts) }

    /// Counts a connection in; false when there are `limit` of its kind already.
    func enter(_ kind: Kind, limit: Int) -> Bool {
        state.withLock { state in
            switch kind {
            case .ordinary:
                guard state.counts.connections - state.restricted < limit else { return false }
            case .restricted:
                guard state.restricted < limit else { return false }
                state.restricted += 1
            }
            state.counts.connections += 1
            state.counts.accepted += 1
            return true
        }
    }

    /// Counts a connection out.
    func leave(_ kind: Kind) {
        state.withLock { state in
            state.counts.connections -= 1
            if kind == .restricted { state.restricted -= 1 }
        }
    }

    /// As if it had never come.
    func retract(_ kind: Kind) {
        leave(kind)
        state.withLock { $0.counts.accepted -= 1 }
    }

    /// Counts a refusal.
    func reject(_ reason: HTTPServer.RejectionReason) {
        state.withLock { $0.counts.rejected[reason, default: 0] += 1 }
    }
}
