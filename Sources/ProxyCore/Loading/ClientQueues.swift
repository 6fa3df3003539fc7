// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The waiting fetches of one priority: a queue for each client; the clients take turns.
///
/// Pure. A fetch that several clients wait for is in the queue of each. The client with the fewest slots is served
/// first; among equals, the client that was served longest ago. Taking a fetch costs O(clients waiting × log +
/// a client's queue).
struct ClientQueues {
    private var queues: [ClientID?: ClientQueue] = [:]
    /// The clients with a queue; the first was served longest ago.
    private var turns: [ClientID?] = []

    /// Whether no fetch waits.
    var isEmpty: Bool { turns.isEmpty }

    /// Returns the waiting fetches of one client; nil if it has none.
    func queue(of client: ClientID?) -> ClientQueue? { queues[client] }

    /// Appends a fetch to a client's queue.
    mutating func append(_ ticket: FetchTicket, for client: ClientID?) {
        if queues[client] == nil { turns.append(client) }
        queues[client, default: ClientQueue()].append(ticket)
    }

    /// Removes the next fetch that has free slots from the queue of the client whose turn it is; clients take turns.
    ///
    /// The fetch stays in the queues of other clients.
    /// - Parameter newestFirst: whether an origin's queue is served from its end.
    /// - Returns: the fetch's id, and that client.
    mutating func takeNext(newestFirst: Bool, by slots: FetchSlots) -> (id: UInt64, client: ClientID?)? {
        for client in order(by: slots) {
            let id = change(client) { $0.takeNext(newestFirst: newestFirst, by: slots, for: client) }
            guard let id else { continue }
            if let turn = turns.firstIndex(of: client) {
                turns.remove(at: turn)
                turns.append(client)
            }
            return (id, client)
        }
        return nil
    }

    mutating func remove(_ ticket: FetchTicket) {
        for client in ticket.clients {
            _ = change(client) { $0.remove(ticket.id, of: ticket.place.origin) }
        }
    }

    /// The clients that may take another slot, those with the fewest slots first.
    private func order(by slots: FetchSlots) -> [ClientID?] {
        let able = turns.filter(slots.hasCapacity)
        guard able.count > 1 else { return able }
        return able.enumerated().map {
            (client: $0.element, turn: $0.offset, held: slots.held(by: $0.element))
        }
        .sorted { ($0.held, $0.turn) < ($1.held, $1.turn) }
        .map(\.client)
    }

    /// Calls `take` with a client's queue, and removes the queue when it becomes empty.
    private mutating func change(
        _ client: ClientID?, _ take: (inout ClientQueue) -> UInt64?
    ) -> UInt64? {
        // The dictionary must not hold the queue while it changes: each call would copy it.
        guard var queue = queues.updateValue(ClientQueue(), forKey: client) else {
            queues[client] = nil
            return nil
        }
        let id = take(&queue)
        if queue.count > 0 {
            queues.updateValue(queue, forKey: client)
        } else {
            queues.removeValue(forKey: client)
            turns.removeAll { $0 == client }
        }
        return id
    }
}
