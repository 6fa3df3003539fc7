// SPDX-License-Identifier: Apache-2.0

/// Who may fetch now and who waits, within the bounds in all, per origin and per rule.
///
/// Pure. The most urgent go first; among equals the origins take turns, so that one with a long line keeps nobody else
/// waiting; within an origin's line it goes by `fetch.order`. A fetch that waits for its own origin's slot lets others pass.
struct FetchQueue {
    /// What became of a new fetch.
    enum Admission: Equatable {
        /// It waits, or may start at once.
        case admitted
        /// It waits in the place of another, which has to go: a less urgent one, or one of an origin with a longer line.
        case displacing(UInt64)
        /// The queue is full.
        case full
    }

    private var maxWaiting: Int
    private var newestFirst: Bool
    /// By rank: low, normal, high.
    private var lanes = Array(repeating: FetchLane(), count: FetchPriority.allCases.count)
    /// Those that had a slot before, the first to go first.
    private var returned: [FetchTicket] = []
    /// Where each waiting fetch stands.
    private(set) var waitingTickets: [UInt64: FetchTicket] = [:]
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
        slots = FetchSlots(
            most: max(1, configuration.maxConcurrent), mostPerOrigin: max(1, configuration.maxPerHost))
        maxWaiting = configuration.queue
        newestFirst = configuration.order == .lifo
    }

    /// Goes by other bounds from now on; those that wait or run beyond them stay.
    mutating func adopt(_ configuration: FetchConfiguration) {
        slots.resize(
            most: max(1, configuration.maxConcurrent), mostPerOrigin: max(1, configuration.maxPerHost))
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
        guard let known = waitingTickets[id], priority > known.priority,
            var ticket = lanes[known.priority.rank].remove(id, of: known.place.origin)
        else { return }
        ticket.priority = priority
        wait(ticket)
    }

    /// Takes a waiting fetch out; false when it does not wait.
    mutating func remove(_ id: UInt64) -> Bool {
        guard let ticket = waitingTickets.removeValue(forKey: id) else { return false }
        if lanes[ticket.priority.rank].remove(id, of: ticket.place.origin) == nil {
            returned.removeAll { $0.id == id }
        }
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
        waitingTickets[ticket.id] = nil
        slots.take(ticket.place)
        return ticket.id
    }

    /// Takes back the slot of a fetch.
    mutating func release(_ place: FetchTicket.Place) {
        slots.giveBack(place)
    }

    // MARK: - Steps

    private mutating func wait(_ ticket: FetchTicket) {
        lanes[ticket.priority.rank].append(ticket)
        note(ticket)
    }

    private mutating func note(_ ticket: FetchTicket) {
        waitingTickets[ticket.id] = ticket
        earliestDeadline = min(earliestDeadline ?? ticket.deadline, ticket.deadline)
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
            lanes[rank] = FetchLane()
            defer { lanes[rank] = lane }
            if let ticket = lane.takeNext(newestFirst: newestFirst, by: slots) {
                return ticket
            }
        }
        return nil
    }

    /// Who makes room for a fetch: the last of the longest line of the lowest priority, if that is lower than its own,
    /// or if that line is longer than the one it would join.
    private mutating func displaced(by ticket: FetchTicket) -> FetchTicket? {
        guard let rank = lanes.indices.first(where: { lanes[$0].count > 0 }), rank <= ticket.priority.rank,
            let longest = lanes[rank].longest
        else { return nil }
        let isFair = longest.count > lanes[rank].count(for: ticket.place.origin) + 1
        guard rank < ticket.priority.rank || isFair else { return nil }
        let victim = lanes[rank].removeLast(of: longest.origin, newestFirst: newestFirst)
        if let victim { waitingTickets[victim.id] = nil }
        return victim
    }
}
