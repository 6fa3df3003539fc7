// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The clients that wait for one fetch or one render, and its priority: the highest of theirs, which never falls.
///
/// A client that joins the work joins this, so that it counts for every client that waits for it and not only for
/// the one that began it. A client that hangs up stays: it only adds turns, and takes none away. Safe from any task.
package final class Waiters: Sendable {
    /// The clients at one moment.
    package struct State: Sendable {
        /// The highest priority of any of them.
        package fileprivate(set) var priority: FetchPriority
        /// The client that began and those that joined, each once; nil stands for the daemon itself and for
        /// clients that can't be distinguished.
        package fileprivate(set) var clients: [ClientID?]
        /// When the last of them joined; nil if none has.
        package fileprivate(set) var lastJoin: ContinuousClock.Instant?
        fileprivate var observer: (@Sendable (Change) -> Void)?
    }

    /// A change.
    package enum Change: Sendable {
        /// The priority is higher now.
        case raised(FetchPriority)
        /// Another client waits, or one of those that nil stands for.
        case joined(ClientID?)
    }

    private let state: Mutex<State>
    /// Whether the work is for workers that have nothing else to do: no client waits for it.
    package let isBackground: Bool

    /// The maximum number of clients that are distinguished; further ones only change the priority.
    package static let mostClients = 16

    /// The client that begins.
    package init(_ client: ClientID? = nil, _ priority: FetchPriority = .normal, isBackground: Bool = false) {
        state = Mutex(State(priority: priority, clients: [client]))
        self.isBackground = isBackground
    }

    /// The clients now.
    package var current: State { state.withLock { $0 } }

    /// Raises the priority; does nothing if it is at least as high.
    package func raise(to priority: FetchPriority) {
        report(.raised(priority)) { state in
            guard priority > state.priority else { return false }
            state.priority = priority
            return true
        }
    }

    /// Adds a client, whose wait begins now.
    package func join(
        _ client: ClientID?, _ priority: FetchPriority, at now: ContinuousClock.Instant = .now
    ) {
        raise(to: priority)
        report(.joined(client)) { state in
            let isNew = !state.clients.contains(client) && state.clients.count < Self.mostClients
            // Any number of clients may stand behind nil.
            guard isNew || client == nil else { return false }
            state.lastJoin = now
            if isNew { state.clients.append(client) }
            return true
        }
    }

    /// Adds the clients that joined other work, which waits for this, after it had begun.
    package func join(_ others: Waiters) {
        let others = others.current
        raise(to: others.priority)
        for client in others.clients.dropFirst() { join(client, others.priority) }
    }

    private func report(_ change: Change, where hasChanged: (inout State) -> Bool) {
        let observer = state.withLock { hasChanged(&$0) ? $0.observer : nil }
        observer?(change)
    }

    /// Calls `observer` for each later change; replaces an earlier observer.
    package func observe(_ observer: (@Sendable (Change) -> Void)?) {
        state.withLock { $0.observer = observer }
    }
}
