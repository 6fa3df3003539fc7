// SPDX-License-Identifier: Apache-2.0

/// Who may fetch now and who waits, within the bounds in all, per origin and per rule.
///
/// Pure. The most urgent go first; among equals the clients take turns, the one with the fewest slots first, and for each
/// client its origins, so that a long line keeps no other waiting; within an origin's line it goes by `fetch.order`. A
/// fetch that waits for a slot of its own origin or client lets others pass.
struct FetchQueue {
    /// What became of a new fetch.
    enum Admission: Equatable {
        /// It waits, or may start at once.
        case admitted
        /// It waits in the place of another, which has to go: one of a client with more of them, or of the same client a less
        /// urgent one, or one of an origin with a longer line.
        case displacing(UInt64)
        /// The queue is full.
        case full
    }

    private var maxWaiting: Int
    private var newestFirst: Bool
    /// By rank: low, normal, high.
    private var lanes = Array(repeating: ClientLanes(), count: FetchPriority.allCases.count)
    /// Those that had a slot before, the first to go first.
    private var returned: [FetchTicket] = []
    /// Where each waiting fetch stands.
    private(set) var waitingTickets: [UInt64: FetchTicket] = [:]
    /// How many wait for each client.
    private var waitingPerClient: [ClientID?: Int] = [:]
    /// Which slots each running fetch has.
    private var runningPlaces: [UInt64: FetchTicket.Place] = [:]
    private var slots: FetchSlots
    /// No waiting fetch gives up before; may be earlier than the first that does.
    private var earliestDeadline: ContinuousClock.Instant?

    /// The number of fetches that hold a slot.
    var running: Int { slots.taken }

    /// The number of fetches that wait.
    var waiting: Int { waitingTickets.count }

    /// When `expire` is to be called: no waiting fetch gives up before.
    var nextDeadline: ContinuousClock.Instant? { waiting == 0 ? nil : earliestDeadline }

    init(configuration: FetchConfiguration) {
        slots = FetchSlots(configuration: configuration)
        maxWaiting = configuration.queue
        newestFirst = configuration.order == .lifo
    }

    /// Goes by other bounds from now on; those that wait or run beyond them stay.
    mutating func adopt(_ configuration: FetchConfiguration) {
        slots.adopt(configuration)
        maxWaiting = configuration.queue
        newestFirst = configuration.order == .lifo
    }

    // MARK: - Waiting

    /// Lets a new fetch in.
    mutating func enqueue(_ ticket: FetchTicket) -> Admission {
        guard waiting >= maxWaiting, !slots.hasRoom(for: ticket.place) else {
            wait(ticket)
            return .admitted
        }
        guard let victim = displaced(by: ticket) else { return .full }
        wait(ticket)
        return .displacing(victim.id)
    }

    /// Lets a fetch that had a slot already wait for its next one before all others, whether the queue is full or not.
    ///
    /// So the queue may hold up to `fetch.maxConcurrent` more than `fetch.queue`.
    mutating func requeue(_ ticket: FetchTicket) {
        returned.insert(ticket, at: 0)
        note(ticket)
    }

    /// Makes a waiting fetch more urgent; it goes to the end of its line there.
    mutating func raise(_ id: UInt64, to priority: FetchPriority) {
        guard let known = waitingTickets[id], priority > known.priority else { return }
        move(known) { $0.priority = priority }
    }

    /// Another client waits for the same fetch: it counts for that one from now on where it then gets its slot sooner.
    ///
    /// So a client that has used up its slots, or has many fetches waiting, can't keep others waiting for one that they need.
    mutating func join(_ id: UInt64, by client: ClientID?) {
        guard let known = waitingTickets[id], known.place.client != client else { return }
        var place = known.place
        place.client = client
        guard prospects(of: place) < prospects(of: known.place) else { return }
        move(known) { $0.place = place }
    }

    /// Takes a waiting fetch out; false when it does not wait.
    mutating func remove(_ id: UInt64) -> Bool {
        guard let ticket = forget(id) else { return false }
        if lanes[ticket.priority.rank].remove(ticket) == nil { returned.removeAll { $0.id == id } }
        return true
    }

    /// Takes out those whose deadline has passed, in the order of their deadlines.
    mutating func expire(at now: ContinuousClock.Instant) -> [UInt64] {
        guard let earliestDeadline, earliestDeadline <= now else { return [] }
        let expired = waitingTickets.values.filter { $0.deadline <= now }
            .sorted { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
        for ticket in expired { _ = remove(ticket.id) }
        self.earliestDeadline = waitingTickets.values.map(\.deadline).min()
        return expired.map(\.id)
    }

    // MARK: - Running

    /// Gives the next fetch that may run its slot, and names it; nil when none may.
    mutating func startNext() -> UInt64? {
        guard slots.hasRoom, waiting > 0, let ticket = takeNext() else { return nil }
        forget(ticket.id)
        slots.take(ticket.place)
        runningPlaces[ticket.id] = ticket.place
        return ticket.id
    }

    /// Takes back the slots of a running fetch, and tells which those were; nil when it does not run.
    @discardableResult
    mutating func release(_ id: UInt64) -> FetchTicket.Place? {
        guard let place = runningPlaces.removeValue(forKey: id) else { return nil }
        slots.giveBack(place)
        return place
    }

    // MARK: - Steps

    private mutating func wait(_ ticket: FetchTicket) {
        lanes[ticket.priority.rank].append(ticket)
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

    /// Puts one that waits in a lane into another.
    private mutating func move(_ known: FetchTicket, _ change: (inout FetchTicket) -> Void) {
        guard var ticket = lanes[known.priority.rank].remove(known) else { return }
        forget(ticket.id)
        change(&ticket)
        wait(ticket)
    }

    /// What keeps a fetch waiting, the less the better: no slot left for its client, slots that the client has, and fetches
    /// of the client that wait.
    private func prospects(of place: FetchTicket.Place) -> (Int, Int, Int) {
        let isAble = slots.hasRoom(for: place.client) && slots.hasRoom(for: place.origin, and: place.client)
        return (isAble ? 0 : 1, slots.held(by: place.client), waitingCount(of: place.client))
    }

    private mutating func takeNext() -> FetchTicket? {
        // By itself, or each look at a place would copy the whole queue.
        let slots = slots
        if let index = returned.firstIndex(where: { slots.hasRoom(for: $0.place) }) {
            return returned.remove(at: index)
        }
        for rank in lanes.indices.reversed() where lanes[rank].count > 0 {
            var lane = lanes[rank]
            // Not held twice while it changes, or each call would copy it.
            lanes[rank] = ClientLanes()
            defer { lanes[rank] = lane }
            if let ticket = lane.takeNext(newestFirst: newestFirst, by: slots) {
                return ticket
            }
        }
        return nil
    }

    /// The fetch that makes room for another: of the client with the most waiting, if that has two more than the client of
    /// the other; else of that client itself; else a less urgent one of a client with more waiting.
    private mutating func displaced(by ticket: FetchTicket) -> FetchTicket? {
        let (client, count) = (ticket.place.client, waitingCount(of: ticket.place.client))
        guard let busiest = waitingPerClient.max(by: { $0.value < $1.value }) else { return nil }
        if busiest.key != client, busiest.value > count + 1 {
            return removeLast(of: busiest.key)
        }
        if let own = displacedOwn(by: ticket) { return own }
        guard let rank = lanes.indices.first(where: { lanes[$0].count > 0 }), rank < ticket.priority.rank,
            let other = lanes[rank].busiest, waitingCount(of: other) > count
        else { return nil }
        return removeLast(of: other, in: rank)
    }

    /// The last of the client's longest line of the lowest priority, if that is lower than its own, or if that line is longer
    /// than the one that it would join.
    private mutating func displacedOwn(by ticket: FetchTicket) -> FetchTicket? {
        let client = ticket.place.client
        guard let rank = lanes.indices.first(where: { lanes[$0].count(of: client) > 0 }),
            rank <= ticket.priority.rank, let lane = lanes[rank].lane(of: client), let longest = lane.longest
        else { return nil }
        let isFair = longest.count > lane.count(for: ticket.place.origin) + 1
        guard rank < ticket.priority.rank || isFair else { return nil }
        return removeLast(of: client, in: rank)
    }

    /// Takes the one out that a client needs least; nil where all of them had a slot before.
    private mutating func removeLast(of client: ClientID?) -> FetchTicket? {
        lanes.indices.first { lanes[$0].count(of: client) > 0 }.flatMap { removeLast(of: client, in: $0) }
    }

    private mutating func removeLast(of client: ClientID?, in rank: Int) -> FetchTicket? {
        let victim = lanes[rank].removeLast(of: client, newestFirst: newestFirst)
        if let victim { forget(victim.id) }
        return victim
    }
}
