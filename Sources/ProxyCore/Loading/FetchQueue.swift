// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The running and the waiting fetches, within the bounds in total, per origin and per rule.
///
/// Pure. The highest priority goes first. Within a priority the clients take turns, the one with the fewest
/// slots first; for each client its origins take turns, so that a long queue delays no other origin;
/// `fetch.order` decides within an origin's queue. A fetch that waits for a slot of its own origin or client
/// does not block others.
///
/// A fetch that several clients wait for runs with the turn of the first, and counts for that client. As long as it
/// waits it counts for the one with the fewest waiting fetches.
struct FetchQueue {
    /// The result of `enqueue`.
    enum Admission: Equatable {
        /// The fetch waits, or may start at once.
        case admitted
        /// The fetch waits and replaces another, which fails: one of a client with more waiting fetches, or a
        /// less urgent one of the same client, or one of the same client for an origin with a longer queue.
        case displacing(UInt64)
        case full
    }

    /// The slots of a running fetch, and the client that it counts for.
    private struct Running {
        let place: FetchTicket.Place
        let client: ClientID?
    }

    private var maxWaiting = 0
    private var newestFirst = false
    /// By rank: low, normal, high.
    private var queues = Array(repeating: ClientQueues(), count: FetchPriority.allCases.count)
    /// The waiting fetches by id.
    private(set) var waitingTickets: [UInt64: FetchTicket] = [:]
    private var waitingPerClient: [ClientID?: Int] = [:]
    private var runningFetches: [UInt64: Running] = [:]
    private var slots: FetchSlots
    /// No waiting fetch times out before this; it may be earlier than the first timeout.
    private var earliestDeadline: ContinuousClock.Instant?

    /// The number of fetches that hold a slot.
    var running: Int { slots.taken }

    var waiting: Int { waitingTickets.count }

    /// The time at which `expire` has to be called; no waiting fetch times out before.
    var nextDeadline: ContinuousClock.Instant? { waiting == 0 ? nil : earliestDeadline }

    init(configuration: FetchConfiguration) {
        slots = FetchSlots(configuration: configuration)
        adopt(configuration)
    }

    /// Changes the bounds; fetches that wait or run beyond them stay.
    mutating func adopt(_ configuration: FetchConfiguration) {
        slots.adopt(configuration)
        maxWaiting = configuration.queue
        newestFirst = configuration.order == .lifo
    }

    // MARK: - Waiting

    /// Adds a fetch, also one that has had a slot: a redirect does not go before what other clients wait for.
    mutating func enqueue(_ ticket: FetchTicket) -> Admission {
        guard waiting >= maxWaiting, slots.client(for: ticket) == nil else {
            wait(ticket)
            return .admitted
        }
        guard let victim = displaced(by: ticket) else { return .full }
        wait(ticket)
        return .displacing(victim.id)
    }

    /// Raises a waiting fetch's priority; it goes to the end of its queue there.
    mutating func raise(_ id: UInt64, to priority: FetchPriority) {
        guard var ticket = waitingTickets[id], priority > ticket.priority else { return }
        _ = remove(id)
        ticket.priority = priority
        wait(ticket)
    }

    /// Another client waits for the same fetch, too: it also has the turns of that client, and times out later.
    ///
    /// So a client without free slots, or with many waiting fetches, can't delay a fetch that others need.
    /// - Parameter deadline: that of a wait that begins now.
    mutating func join(_ id: UInt64, by client: ClientID?, until deadline: ContinuousClock.Instant) {
        guard var ticket = waitingTickets[id] else { return }
        ticket.deadline = max(ticket.deadline, deadline)
        let isNew = !ticket.clients.contains(client) && ticket.clients.count < Waiters.mostClients
        if isNew {
            ticket.clients.append(client)
            waitingPerClient[client, default: 0] += 1
        }
        waitingTickets[id] = ticket
        if isNew { queues[ticket.priority.rank].append(ticket, for: client) }
    }

    /// Removes a waiting fetch; false if it does not wait.
    mutating func remove(_ id: UInt64) -> Bool {
        guard let ticket = forget(id) else { return false }
        queues[ticket.priority.rank].remove(ticket)
        return true
    }

    /// Removes the fetches whose deadline has passed; returns them in the order of their deadlines.
    mutating func expire(at now: ContinuousClock.Instant) -> [UInt64] {
        guard let earliestDeadline, earliestDeadline <= now else { return [] }
        let expired = waitingTickets.values.filter { $0.deadline <= now }
            .sorted { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
        for ticket in expired { _ = remove(ticket.id) }
        self.earliestDeadline = waitingTickets.values.map(\.deadline).min()
        return expired.map(\.id)
    }

    // MARK: - Running

    /// Gives a slot to the next fetch that may run, and returns its id; nil if none may run.
    mutating func startNext() -> UInt64? {
        guard slots.hasCapacity, waiting > 0, let next = takeNext(),
            let place = waitingTickets[next.id]?.place
        else { return nil }
        _ = remove(next.id)
        slots.take(place, for: next.client)
        runningFetches[next.id] = Running(place: place, client: next.client)
        return next.id
    }

    /// Takes back the slots of a fetch, if it runs.
    mutating func release(_ id: UInt64) {
        guard let running = runningFetches.removeValue(forKey: id) else { return }
        slots.giveBack(running.place, of: running.client)
    }

    // MARK: - Steps

    private mutating func wait(_ ticket: FetchTicket) {
        for client in ticket.clients { queues[ticket.priority.rank].append(ticket, for: client) }
        note(ticket)
    }

    private mutating func note(_ ticket: FetchTicket) {
        waitingTickets[ticket.id] = ticket
        for client in ticket.clients { waitingPerClient[client, default: 0] += 1 }
        earliestDeadline = min(earliestDeadline ?? ticket.deadline, ticket.deadline)
    }

    private mutating func forget(_ id: UInt64) -> FetchTicket? {
        guard let ticket = waitingTickets.removeValue(forKey: id) else { return nil }
        for client in ticket.clients {
            let count = waitingCount(of: client) - 1
            if count > 0 {
                waitingPerClient.updateValue(count, forKey: client)
            } else {
                waitingPerClient.removeValue(forKey: client)
            }
        }
        return ticket
    }

    private func waitingCount(of client: ClientID?) -> Int { waitingPerClient[client, default: 0] }

    /// The next fetch and the client whose turn it is; the fetch may stay in the queues of other clients.
    private mutating func takeNext() -> (id: UInt64, client: ClientID?)? {
        // A copy of its own, because each access through `self` would copy the whole queue.
        let slots = slots
        for rank in queues.indices.reversed() where !queues[rank].isEmpty {
            var queue = queues[rank]
            // The array must not hold the queue while it changes: each call would copy it.
            queues[rank] = ClientQueues()
            defer { queues[rank] = queue }
            if let next = queue.takeNext(newestFirst: newestFirst, by: slots) { return next }
        }
        return nil
    }

    // MARK: - A full queue

    /// Removes a fetch so that another one has space: one of the client with the most waiting fetches, if that
    /// has at least two more than the other's client; otherwise one of the same client; otherwise a less
    /// urgent one of a client with more waiting.
    private mutating func displaced(by ticket: FetchTicket) -> FetchTicket? {
        let load = load(of: ticket)
        let victim =
            last(ofClientsAbove: load + 1, below: queues.count) ?? lastOfClient(of: ticket)
            ?? last(ofClientsAbove: load, below: ticket.priority.rank)
        guard let victim, let displaced = waitingTickets[victim] else { return nil }
        _ = remove(victim)
        return displaced
    }

    /// The client of a fetch that has the fewest waiting: it counts for that client as long as it waits.
    private func countedClient(of ticket: FetchTicket) -> ClientID? {
        ticket.clients.min { waitingCount(of: $0) < waitingCount(of: $1) } ?? nil
    }

    private func load(of ticket: FetchTicket) -> Int { waitingCount(of: countedClient(of: ticket)) }

    /// The least urgent fetch that counts for the client with the most waiting, if that has more than `load`.
    /// - Parameter rank: only fetches of lower priorities count.
    private func last(ofClientsAbove load: Int, below rank: Int) -> UInt64? {
        var busiest: (client: ClientID?, load: Int)?
        for ticket in waitingTickets.values where ticket.priority.rank < rank {
            let client = countedClient(of: ticket)
            let count = waitingCount(of: client)
            if count > busiest?.load ?? load { busiest = (client, count) }
        }
        guard let busiest else { return nil }
        return queues.indices.lazy.compactMap { last(of: busiest.client, in: $0) }.first
    }

    /// The last fetch of the client's longest queue in its lowest priority, if that priority is lower than the
    /// ticket's, or if that queue is longer than the one that the ticket would join.
    private func lastOfClient(of ticket: FetchTicket) -> UInt64? {
        let client = countedClient(of: ticket)
        guard let rank = queues.indices.first(where: { queues[$0].queue(of: client) != nil }),
            rank <= ticket.priority.rank
        else { return nil }
        let own = queues[rank].queue(of: client)?.count(for: ticket.place.origin) ?? 0
        return last(of: client, in: rank, longerThan: rank < ticket.priority.rank ? 0 : own + 1)
    }

    /// The last of the fetches that count for a client in a priority; nil if there is none.
    private func last(of client: ClientID?, in rank: Int, longerThan length: Int = 0) -> UInt64? {
        queues[rank].queue(of: client)?.last(newestFirst: newestFirst, longerThan: length) { id in
            waitingTickets[id].map { countedClient(of: $0) == client } ?? false
        }
    }
}
