// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The waiting fetches of one priority: a queue for each client; the clients take turns.
///
/// Pure. The client with the fewest slots is served first; among equals, the client that was served longest
/// ago. Taking a fetch costs O(clients waiting × log + a client's queue).
struct ClientQueues {
    private var queues: [ClientID?: ClientQueue] = [:]
    /// The clients with a queue; the first was served longest ago.
    private var turns: [ClientID?] = []

    /// The number of waiting fetches.
    private(set) var count = 0

    /// Returns the waiting fetches of one client; nil if it has none.
    func queue(of client: ClientID?) -> ClientQueue? { queues[client] }

    /// The client with the most waiting fetches in this priority.
    var busiest: ClientID?? { turns.max { count(of: $0) < count(of: $1) } }

    /// Returns the number of a client's waiting fetches in this priority.
    func count(of client: ClientID?) -> Int { queues[client]?.count ?? 0 }

    /// Appends a fetch to its queue.
    mutating func append(_ ticket: FetchTicket) {
        let client = ticket.place.client
        if queues[client] == nil { turns.append(client) }
        queues[client, default: ClientQueue()].append(ticket)
        count += 1
    }

    /// Removes and returns the next fetch that has free slots; clients take turns.
    /// - Parameter newestFirst: whether an origin's queue is served from its end.
    mutating func takeNext(newestFirst: Bool, by slots: FetchSlots) -> FetchTicket? {
        for client in order(by: slots) {
            let ticket = change(client) { $0.takeNext(newestFirst: newestFirst, by: slots, for: client) }
            guard let ticket else { continue }
            if let turn = turns.firstIndex(of: client) {
                turns.remove(at: turn)
                turns.append(client)
            }
            return ticket
        }
        return nil
    }

    /// Removes a fetch; nil if it is not here.
    mutating func remove(_ ticket: FetchTicket) -> FetchTicket? {
        change(ticket.place.client) { $0.remove(ticket.id, of: ticket.place.origin) }
    }

    /// Removes the fetch that would be served last in a client's longest queue.
    mutating func removeLast(of client: ClientID?, newestFirst: Bool) -> FetchTicket? {
        change(client) { queue in
            queue.longest.flatMap { queue.removeLast(of: $0.origin, newestFirst: newestFirst) }
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
        _ client: ClientID?, _ take: (inout ClientQueue) -> FetchTicket?
    ) -> FetchTicket? {
        // The dictionary must not hold the queue while it changes: each call would copy it.
        guard var queue = queues.updateValue(ClientQueue(), forKey: client) else {
            queues[client] = nil
            return nil
        }
        let ticket = take(&queue)
        if ticket != nil { count -= 1 }
        if queue.count > 0 {
            queues.updateValue(queue, forKey: client)
        } else {
            queues.removeValue(forKey: client)
            turns.removeAll { $0 == client }
        }
        return ticket
    }
}
