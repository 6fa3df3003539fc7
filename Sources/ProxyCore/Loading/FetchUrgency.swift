// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// How urgent one fetch is, and for which clients: as much as for the most urgent of those who wait for it; it never falls.
public final class FetchUrgency: Sendable {
    /// What has become of it.
    enum Change: Sendable {
        /// It is more urgent now.
        case raised(FetchPriority)
        /// Another client waits for it, too.
        case joined(ClientID?)
    }

    private struct State {
        var priority: FetchPriority
        var joined: [ClientID?] = []
        var observer: (@Sendable (Change) -> Void)?
    }

    /// The client that began the fetch; nil for the daemon itself.
    public let client: ClientID?
    private let state: Mutex<State>

    /// Most further clients that are kept for a fetch that has yet to wait for its slot.
    private static let maxJoined = 16

    /// A fetch of this priority, for this client, to begin with.
    public init(_ priority: FetchPriority = .normal, client: ClientID? = nil) {
        self.client = client
        state = Mutex(State(priority: priority))
    }

    /// The priority now.
    public var priority: FetchPriority { state.withLock { $0.priority } }

    /// Further clients that wait for it: the first ones.
    var joined: [ClientID?] { state.withLock(\.joined) }

    /// Makes it more urgent; nothing happens where it is so already.
    public func raise(to priority: FetchPriority) {
        report(.raised(priority)) { state in
            guard priority > state.priority else { return false }
            state.priority = priority
            return true
        }
    }

    /// Has another client wait for it, to whom it is so urgent.
    public func join(_ client: ClientID?, to priority: FetchPriority) {
        raise(to: priority)
        guard client != self.client else { return }
        report(.joined(client)) { state in
            if state.joined.count < Self.maxJoined, !state.joined.contains(client) {
                state.joined.append(client)
            }
            return true
        }
    }

    private func report(_ change: Change, where isNews: (inout State) -> Bool) {
        let observer = state.withLock { state in
            isNews(&state) ? state.observer : (@Sendable (Change) -> Void)?.none
        }
        observer?(change)
    }

    /// Tells `observer` of each change from now on, in place of an earlier one.
    func observe(_ observer: (@Sendable (Change) -> Void)?) {
        state.withLock { $0.observer = observer }
    }
}

extension FetchUrgency: Hashable {
    /// One is equal to itself alone.
    public static func == (left: FetchUrgency, right: FetchUrgency) -> Bool { left === right }

    /// Hashes its identity.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
