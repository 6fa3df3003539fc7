// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The running and the waiting fetches, within the bounds in total, per origin and per rule.
///
/// Pure. The highest priority goes first. Within a priority the clients take turns, the one with the fewest
/// slots first; for each client its origins take turns, so that a long queue delays no other origin;
/// `fetch.order` decides within an origin's queue. A fetch that waits for a slot of its own origin or client
/// does not block others.
struct FetchQueue {
    /// The result of `enqueue`.
    enum Admission: Equatable {
        /// The fetch waits, or may start at once.
        case admitted
        /// The fetch waits and replaces another, which fails: one of a client with more waiting fetches, or a
        /// less urgent one of the same client, or one of the same client for an origin with a longer queue.
        case displacing(UInt64)
        /// The queue is full.
        case full
    }

    private var maxWaiting = 0
    private var newestFirst = false
    /// By rank: low, normal, high.
    private var queues = Array(repeating: ClientQueues(), count: FetchPriority.allCases.count)
    /// The fetches that have had a slot before; the first is next.
    private var returned: [FetchTicket] = []
    /// The waiting fetches by id.
    private(set) var waitingTickets: [UInt64: FetchTicket] = [:]
    /// The number of waiting fetches of each client.
    private var waitingPerClient: [ClientID?: Int] = [:]
    /// The slots of each running fetch.
    private var runningPlaces: [UInt64: FetchTicket.Place] = [:]
    private var slots: FetchSlots
    /// No waiting fetch times out before this; it may be earlier than the first timeout.
    private var earliestDeadline: ContinuousClock.Instant?

    /// The number of fetches that hold a slot.
    var running: Int { slots.taken }

    /// The number of fetches that wait.
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

    /// Adds a new fetch.
    mutating func enqueue(_ ticket: FetchTicket) -> Admission {
        guard waiting >= maxWaiting, !slots.hasCapacity(for: ticket.place) else {
            wait(ticket)
            return .admitted
        }
        guard let victim = displaced(by: ticket) else { return .full }
        wait(ticket)
        return .displacing(victim.id)
    }

    /// Adds a fetch that has had a slot; it goes before all others, also if the queue is full.
    ///
    /// So the queue may hold up to `fetch.maxConcurrent` more than `fetch.queue`.
    mutating func requeue(_ ticket: FetchTicket) {
        returned.insert(ticket, at: 0)
        note(ticket)
    }

    /// Raises a waiting fetch's priority; it goes to the end of its queue there.
    mutating func raise(_ id: UInt64, to priority: FetchPriority) {
        guard let known = waitingTickets[id], priority > known.priority else { return }
        move(known) { $0.priority = priority }
    }

    /// Another client waits for the same fetch: the fetch counts for that client from now on if it then gets
    /// a slot sooner.
    ///
    /// So a client without free slots, or with many waiting fetches, can't delay a fetch that others need.
    mutating func join(_ id: UInt64, by client: ClientID?) {
        guard let known = waitingTickets[id], known.place.client != client else { return }
        var place = known.place
        place.client = client
        guard prospects(of: place) < prospects(of: known.place) else { return }
        move(known) { $0.place = place }
    }

    /// Removes a waiting fetch; false if it does not wait.
    mutating func remove(_ id: UInt64) -> Bool {
        guard let ticket = forget(id) else { return false }
        if queues[ticket.priority.rank].remove(ticket) == nil { returned.removeAll { $0.id == id } }
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
        guard slots.hasCapacity, waiting > 0, let ticket = takeNext() else { return nil }
        forget(ticket.id)
        slots.take(ticket.place)
        runningPlaces[ticket.id] = ticket.place
        return ticket.id
    }

    /// Takes back the slots of a running fetch and returns them; nil if it does not run.
    @discardableResult
    mutating func release(_ id: UInt64) -> FetchTicket.Place? {
        guard let place = runningPlaces.removeValue(forKey: id) else { return nil }
        slots.giveBack(place)
        return place
    }

    // MARK: - Steps

    private mutating func wait(_ ticket: FetchTicket) {
        queues[ticket.priority.rank].append(ticket)
        note(ticket)
    }

    private mutating func note(_ ticket: FetchTicket) {
        waitingTickets[ticket.id] = ticket
        waitingPerClient[ticket.place.client, default: 0] += 1
        earliestDeadline = min(earliestDeadline ?? ticket.deadline, ticket.deadline)
    }

    @discardableResult
    private mutating func forget(_ id: UInt64) -> FetchTicket? {
        guard let ticket = waitingTickets.removeValue(forKey: id) else { return nil }
        let (client, count) = (ticket.place.client, waitingCount(of: ticket.place.client) - 1)
        if count > 0 {
            waitingPerClient.updateValue(count, forKey: client)
        } else {
            waitingPerClient.removeValue(forKey: client)
        }
        return ticket
    }

    private func waitingCount(of client: ClientID?) -> Int { waitingPerClient[client, default: 0] }

    /// Moves a waiting fetch to the queue of another priority.
    private mutating func move(_ known: FetchTicket, _ change: (inout FetchTicket) -> Void) {
        guard var ticket = queues[known.priority.rank].remove(known) else { return }
        forget(ticket.id)
        change(&ticket)
        wait(ticket)
    }

    /// What delays a fetch, less is better: whether its client has no free slot, the client's slots, and the
    /// client's waiting fetches.
    private func prospects(of place: FetchTicket.Place) -> (Int, Int, Int) {
        let isAble =
            slots.hasCapacity(for: place.client) && slots.hasCapacity(for: place.origin, and: place.client)
        return (isAble ? 0 : 1, slots.held(by: place.client), waitingCount(of: place.client))
    }

    private mutating func takeNext() -> FetchTicket? {
        // A copy of its own, because each access through `self` would copy the whole queue.
        let slots = slots
        if let index = returned.firstIndex(where: { slots.hasCapacity(for: $0.place) }) {
            return returned.remove(at: index)
        }
        for rank in queues.indices.reversed() where queues[rank].count > 0 {
            var queue = queues[rank]
            // The array must not hold the queue while it changes: each call would copy it.
            queues[rank] = ClientQueues()
            defer { queues[rank] = queue }
            if let ticket = queue.takeNext(newestFirst: newestFirst, by: slots) {
                return ticket
            }
        }
        return nil
    }

    /// Removes a fetch so that another one has space: one of the client with the most waiting fetches, if that
    /// has at least two more than the other's client; otherwise one of the same client; otherwise a less
    /// urgent one of a client with more waiting.
    private mutating func displaced(by ticket: FetchTicket) -> FetchTicket? {
        let (client, count) = (ticket.place.client, waitingCount(of: ticket.place.client))
        guard let busiest = waitingPerClient.max(by: { $0.value < $1.value }) else { return nil }
        if busiest.key != client, busiest.value > count + 1 {
            return removeLast(of: busiest.key)
        }
        if let own = displacedOfClient(by: ticket) { return own }
        guard let rank = queues.indices.first(where: { queues[$0].count > 0 }), rank < ticket.priority.rank,
            let other = queues[rank].busiest, waitingCount(of: other) > count
        else { return nil }
        return removeLast(of: other, in: rank)
    }

    /// Removes the last fetch of the client's longest queue in its lowest priority, if that priority is lower
    /// than the ticket's, or if that queue is longer than the one that the ticket would join.
    private mutating func displacedOfClient(by ticket: FetchTicket) -> FetchTicket? {
        let client = ticket.place.client
        guard let rank = queues.indices.first(where: { queues[$0].count(of: client) > 0 }),
            rank <= ticket.priority.rank, let queue = queues[rank].queue(of: client),
            let longest = queue.longest
        else { return nil }
        let isFair = longest.count > queue.count(for: ticket.place.origin) + 1
        guard rank < ticket.priority.rank || isFair else { return nil }
        return removeLast(of: client, in: rank)
    }

    /// Removes the client's least urgent fetch; nil if all of them have had a slot before.
    private mutating func removeLast(of client: ClientID?) -> FetchTicket? {
        queues.indices.first { queues[$0].count(of: client) > 0 }.flatMap { removeLast(of: client, in: $0) }
    }

    private mutating func removeLast(of client: ClientID?, in rank: Int) -> FetchTicket? {
        let victim = queues[rank].removeLast(of: client, newestFirst: newestFirst)
        if let victim { forget(victim.id) }
        return victim
    }
}
