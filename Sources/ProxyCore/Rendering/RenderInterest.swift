// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Who waits for a rendering, and how urgently: what the queue for workers goes by.
///
/// It travels with the task that renders. A client that joins the rendering joins this, so that a job counts for every
/// client that waits for it and not for the one alone that began it. Safe from any task.
public final class RenderInterest: Sendable {
    /// The interest that the current task renders for; nil where a job is one client's alone.
    @TaskLocal static var current: RenderInterest?

    /// The parties at one moment.
    struct Parties: Sendable {
        /// The highest that one of them wants.
        var priority: FetchPriority
        /// The client that began it and those that joined, each once; nil stands for the daemon itself and for clients that
        /// can't be told apart.
        var clients: [ClientID?]
    }

    private let state: Mutex<Parties>
    /// Whether the rendering is for workers that have nothing else to do: no client waits for it.
    let isBackground: Bool

    /// Clients that are told apart for one rendering; further ones change its priority alone.
    static let mostClients = 16

    /// The interest of the client that begins a rendering.
    init(_ client: ClientID? = nil, _ priority: FetchPriority = .normal, isBackground: Bool = false) {
        state = Mutex(Parties(priority: priority, clients: [client]))
        self.isBackground = isBackground
    }

    /// The interest of the current task's client.
    convenience init(_ priority: FetchPriority?) {
        self.init(FetchContext.current.client, priority ?? .normal)
    }

    /// Renders for this interest in `work`.
    func carried<Value: Sendable, Failure: Error>(
        _ work: @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let outcome: Result<Value, Failure> = await Self.$current.withValue(self) {
            do throws(Failure) { return .success(try await work()) } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    /// The parties now.
    var parties: Parties { state.withLock { $0 } }

    /// Adds the current task's client.
    func join(_ priority: FetchPriority?) {
        join(FetchContext.current.client, priority ?? .normal)
    }

    /// Adds a client.
    func join(_ client: ClientID?, _ priority: FetchPriority) {
        state.withLock { parties in
            parties.priority = max(parties.priority, priority)
            guard parties.clients.count < Self.mostClients, !parties.clients.contains(client) else { return }
            parties.clients.append(client)
        }
    }
}
