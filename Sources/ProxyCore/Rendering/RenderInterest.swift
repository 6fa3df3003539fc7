// SPDX-License-Identifier: Apache-2.0

package import Primitives
import Synchronization

/// The clients that have requested a render, and its priority: the basis of the queue for workers.
///
/// A client that joins the render joins this, so that a job counts for every client that waits for it and not
/// only for the one that began it. Safe from any task.
package final class RenderInterest: Sendable {
    /// The clients at one moment.
    struct Waiters: Sendable {
        /// The highest priority of any of them.
        var priority: FetchPriority
        /// The client that began it and those that joined, each once; nil stands for the daemon itself and
        /// for clients that can't be distinguished.
        var clients: [ClientID?]
        /// When the last of them joined; nil if none has.
        var lastJoin: ContinuousClock.Instant?
    }

    private let state: Mutex<Waiters>
    /// Whether the render is for workers that have nothing else to do: no client waits for it.
    let isBackground: Bool

    /// The maximum number of clients that are distinguished for one render; further ones only change its
    /// priority.
    static let mostClients = 16

    /// The interest of the client that begins a render.
    package init(_ client: ClientID? = nil, _ priority: FetchPriority = .normal, isBackground: Bool = false) {
        state = Mutex(Waiters(priority: priority, clients: [client]))
        self.isBackground = isBackground
    }

    /// The clients now.
    var waiters: Waiters { state.withLock { $0 } }

    /// Adds a client, whose wait for a worker begins now.
    package func join(_ client: ClientID?, _ priority: FetchPriority, at now: ContinuousClock.Instant) {
        state.withLock { waiters in
            waiters.priority = max(waiters.priority, priority)
            guard waiters.clients.count < Self.mostClients, !waiters.clients.contains(client) else { return }
            waiters.clients.append(client)
            waiters.lastJoin = now
        }
    }
}
