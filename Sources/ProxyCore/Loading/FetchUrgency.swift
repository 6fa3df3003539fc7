// SPDX-License-Identifier: Apache-2.0

package import Primitives
import Synchronization

/// The priority of one fetch, and the clients that wait for it. It is the highest of its waiters' and never
/// falls.
package final class FetchUrgency: Sendable {
    /// A change.
    enum Change: Sendable {
        /// The priority is higher now.
        case raised(FetchPriority)
        /// Another client waits for the fetch.
        case joined(ClientID?)
    }

    private struct State {
        var priority: FetchPriority
        var joined: [ClientID?] = []
        var observer: (@Sendable (Change) -> Void)?
    }

    /// The client that started the fetch; nil for the daemon itself.
    package let client: ClientID?
    private let state: Mutex<State>

    /// The maximum number of further clients that are stored until the fetch enters the queue.
    private static let maxJoined = 16

    /// Creates the state of a new fetch with this priority, for this client.
    package init(_ priority: FetchPriority = .normal, client: ClientID? = nil) {
        self.client = client
        state = Mutex(State(priority: priority))
    }

    /// The current priority.
    package var priority: FetchPriority { state.withLock { $0.priority } }

    /// The first further clients that wait for the fetch.
    var joined: [ClientID?] { state.withLock(\.joined) }

    /// Raises the priority; does nothing if it is at least as high.
    package func raise(to priority: FetchPriority) {
        report(.raised(priority)) { state in
            guard priority > state.priority else { return false }
            state.priority = priority
            return true
        }
    }

    /// Adds another client that waits for the fetch with this priority.
    package func join(_ client: ClientID?, to priority: FetchPriority) {
        raise(to: priority)
        guard client != self.client else { return }
        report(.joined(client)) { state in
            if state.joined.count < Self.maxJoined, !state.joined.contains(client) {
                state.joined.append(client)
            }
            return true
        }
    }

    private func report(_ change: Change, where hasChanged: (inout State) -> Bool) {
        let observer = state.withLock { state in
            hasChanged(&state) ? state.observer : (@Sendable (Change) -> Void)?.none
        }
        observer?(change)
    }

    /// Calls `observer` for each later change; replaces an earlier observer.
    func observe(_ observer: (@Sendable (Change) -> Void)?) {
        state.withLock { $0.observer = observer }
    }
}
