// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The server's counters; from any thread.
final class ServerTally: Sendable {
    /// What a connection may be used for.
    enum Kind {
        /// Anything.
        case ordinary
        /// Vital requests, because there are too many other connections.
        case restricted
    }

    private struct State {
        var counts = HTTPServer.Counts()
        /// The number of these connections that are restricted.
        var restricted = 0
        /// The number of ordinary connections of each client, without zeros: no more entries than there are
        /// connections.
        var ofClient: [PeerAddress: Int] = [:]
        /// The client that has more than its share; a share is half, so there is at most one.
        var largest: PeerAddress?
    }

    private let state = Mutex(State())
    /// The number of ordinary connections of a client that are never closed in favour of another client while
    /// they are busy.
    private let share: Int
    private let isTrustedProxy: @Sendable (PeerAddress) -> Bool

    init(_ configuration: HTTPServer.Configuration) {
        share = configuration.clientShare
        state.withLock { $0.counts.maxConnections = configuration.maxConnections }
        isTrustedProxy = configuration.isTrustedProxy
    }

    var snapshot: HTTPServer.Counts { state.withLock(\.counts) }

    /// The client as whose a peer's connection counts; nil for a trusted proxy, whose connections are not
    /// counted.
    func client(_ peer: PeerAddress) -> PeerAddress? { isTrustedProxy(peer) ? nil : peer.client }

    /// The client that has more than its share of the connections, if there is one.
    var largestClient: PeerAddress? { state.withLock(\.largest) }

    /// The same if it has to lose one to this peer, whose own client has less than its share.
    func largestClient(givingWayTo peer: PeerAddress) -> PeerAddress? {
        let client = client(peer)
        return state.withLock { state in
            (client.flatMap { state.ofClient[$0] } ?? 0) < share ? state.largest : nil
        }
    }

    /// Counts a connection; false if there are `limit` of its kind already.
    func enter(_ kind: Kind, of peer: PeerAddress, limit: Int) -> Bool {
        let client = client(peer)
        return state.withLock { state in
            switch kind {
            case .ordinary:
                guard state.counts.connections - state.restricted < limit else { return false }
                if let client {
                    let count = state.ofClient[client, default: 0] + 1
                    state.ofClient[client] = count
                    if count > share { state.largest = client }
                }
            case .restricted:
                guard state.restricted < limit else { return false }
                state.restricted += 1
            }
            state.counts.connections += 1
            state.counts.accepted += 1
            return true
        }
    }

    /// Counts a connection that has ended.
    func leave(_ kind: Kind, of peer: PeerAddress) {
        let client = client(peer)
        state.withLock { state in
            state.counts.connections -= 1
            switch kind {
            case .restricted: state.restricted -= 1
            case .ordinary:
                guard let client, let count = state.ofClient[client] else { return }
                state.ofClient[client] = count > 1 ? count - 1 : nil
                if state.largest == client, count - 1 <= share { state.largest = nil }
            }
        }
    }

    /// Undoes `enter`.
    func undoEnter(_ kind: Kind, of peer: PeerAddress) {
        leave(kind, of: peer)
        state.withLock { $0.counts.accepted -= 1 }
    }

    /// Counts a refusal.
    func reject(_ reason: HTTPServer.RejectionReason) {
        state.withLock { $0.counts.rejected[reason, default: 0] += 1 }
    }
}
