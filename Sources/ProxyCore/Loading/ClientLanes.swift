// SPDX-License-Identifier: Apache-2.0

/// The waiting fetches of one priority: a lane for each client, and the clients take turns.
///
/// Pure. The client that has the fewest slots is served first; among equals the one that was not for the longest time. To
/// take one costs O(clients waiting × log + a client's lane).
struct ClientLanes {
    private var lanes: [ClientID?: FetchLane] = [:]
    /// The clients with a lane; the first was not served for the longest time.
    private var turns: [ClientID?] = []

    /// The waiting fetches.
    private(set) var count = 0

    /// The waiting fetches of one client; nil where there is none.
    func lane(of client: ClientID?) -> FetchLane? { lanes[client] }

    /// The client with the most waiting fetches here.
    var busiest: ClientID?? { turns.max { count(of: $0) < count(of: $1) } }

    /// How many of a client's fetches wait here.
    func count(of client: ClientID?) -> Int { lanes[client]?.count ?? 0 }

    /// Puts one at the end of its line.
    mutating func append(_ ticket: FetchTicket) {
        let client = ticket.place.client
        if lanes[client] == nil { turns.append(client) }
        lanes[client, default: FetchLane()].append(ticket)
        count += 1
    }

    /// Takes the next one for which slots are free, the clients in turn.
    /// - Parameter newestFirst: whether a line is served from its end.
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

    /// Takes one out; nil when it is not here.
    mutating func remove(_ ticket: FetchTicket) -> FetchTicket? {
        change(ticket.place.client) { $0.remove(ticket.id, of: ticket.place.origin) }
    }

    /// Takes the one out that would have been served last of a client's longest line.
    mutating func removeLast(of client: ClientID?, newestFirst: Bool) -> FetchTicket? {
        change(client) { lane in
            lane.longest.flatMap { lane.removeLast(of: $0.origin, newestFirst: newestFirst) }
        }
    }

    /// The clients that may have another slot, those with the fewest first.
    private func order(by slots: FetchSlots) -> [ClientID?] {
        let able = turns.filter(slots.hasRoom)
        guard able.count > 1 else { return able }
        return able.enumerated().map {
            (client: $0.element, turn: $0.offset, held: slots.held(by: $0.element))
        }
        .sorted { ($0.held, $0.turn) < ($1.held, $1.turn) }
        .map(\.client)
    }

    /// Has `take` take one out of a client's lane.
    private mutating func change(
        _ client: ClientID?, _ take: (inout FetchLane) -> FetchTicket?
    ) -> FetchTicket? {
        // Not held twice while it changes, or each call would copy it.
        guard var lane = lanes.updateValue(FetchLane(), forKey: client) else {
            lanes[client] = nil
            return nil
        }
        let ticket = take(&lane)
        if ticket != nil { count -= 1 }
        if lane.count > 0 {
            lanes.updateValue(lane, forKey: client)
        } else {
            lanes.removeValue(forKey: client)
            turns.removeAll { $0 == client }
        }
        return ticket
    }
}
