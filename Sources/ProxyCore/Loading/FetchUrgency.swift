// SPDX-License-Identifier: Apache-2.0

package import Primitives
import Synchronization

/// The priority of one fetch, and the clients that wait for it. The priority is the highest of its waiters' and
/// never falls.
///
/// A client that hangs up stays: another client only ever adds turns to a fetch, and takes none away.
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
        var clients: [ClientID?]
        var observer: (@Sendable (Change) -> Void)?
    }

    private let state: Mutex<State>

    /// The maximum number of clients that are distinguished for one fetch; further ones only change its priority.
    private static let mostClients = 16

    /// Creates the state of a new fetch with this priority, for this client.
    package init(_ priority: FetchPriority = .normal, client: ClientID? = nil) {
        state = Mutex(State(priority: priority, clients: [client]))
    }

    /// The current priority.
    package var priority: FetchPriority { state.withLock { $0.priority } }

    /// The client that started the fetch and those that joined, each once; nil stands for the daemon itself.
    var clients: [ClientID?] { state.withLock(\.clients) }

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
        report(.joined(client)) { state in
            guard state.clients.count < Self.mostClients, !state.clients.contains(client) else {
                return false
            }
            state.clients.append(client)
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
