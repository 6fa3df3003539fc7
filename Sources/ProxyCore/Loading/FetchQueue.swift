// SPDX-License-Identifier: Apache-2.0

/// Who may fetch now and who waits: first come, first served, within the bounds in all and per origin.
///
/// Pure. A fetch that waits for its own origin's slot lets later ones for other origins pass. Looking for the next one
/// costs O(waiting), which is bounded by `fetch.queue`.
struct FetchQueue {
    private struct Ticket {
        let id: UInt64
        let origin: SourceURL.Origin
        let deadline: ContinuousClock.Instant
    }

    private let maxRunning: Int
    private let maxPerOrigin: Int
    private let maxWaiting: Int
    private var tickets: [Ticket] = []
    private var runningPerOrigin: [SourceURL.Origin: Int] = [:]

    /// The number of fetches that hold a slot.
    private(set) var running = 0

    /// The number of fetches that wait.
    var waiting: Int { tickets.count }

    /// When the first waiting fetch gives up.
    var nextDeadline: ContinuousClock.Instant? { tickets.map(\.deadline).min() }

    init(configuration: FetchConfiguration) {
        maxRunning = max(1, configuration.maxConcurrent)
        maxPerOrigin = max(1, configuration.maxPerHost)
        maxWaiting = configuration.queue
    }

    /// Lets a new fetch in; false when it would have to wait and the queue is full.
    mutating func enqueue(
        _ id: UInt64, for origin: SourceURL.Origin, until deadline: ContinuousClock.Instant
    ) -> Bool {
        guard waiting < maxWaiting || hasSlot(for: origin) else { return false }
        tickets.append(Ticket(id: id, origin: origin, deadline: deadline))
        return true
    }

    /// Lets a fetch that had a slot already wait for its next one before all others, whether the queue is full or not.
    ///
    /// So the queue may hold up to `fetch.maxConcurrent` more than `fetch.queue`.
    mutating func requeue(_ id: UInt64, for origin: SourceURL.Origin, until deadline: ContinuousClock.Instant)
    {
        tickets.insert(Ticket(id: id, origin: origin, deadline: deadline), at: 0)
    }

    /// Gives the first fetch that may run its slot, and names it; nil when none may.
    mutating func startNext() -> UInt64? {
        guard running < maxRunning, let index = tickets.firstIndex(where: { hasSlot(for: $0.origin) }) else {
            return nil
        }
        let ticket = tickets.remove(at: index)
        running += 1
        runningPerOrigin[ticket.origin, default: 0] += 1
        return ticket.id
    }

    /// Takes back the slot of a fetch from `origin`.
    mutating func release(_ origin: SourceURL.Origin) {
        guard let count = runningPerOrigin[origin] else { return }
        running -= 1
        runningPerOrigin[origin] = count > 1 ? count - 1 : nil
    }

    /// Takes a waiting fetch out; false when it does not wait.
    mutating func remove(_ id: UInt64) -> Bool {
        guard let index = tickets.firstIndex(where: { $0.id == id }) else { return false }
        tickets.remove(at: index)
        return true
    }

    /// Takes out those whose deadline has passed.
    mutating func expire(at now: ContinuousClock.Instant) -> [UInt64] {
        let expired = tickets.filter { $0.deadline <= now }.map(\.id)
        if !expired.isEmpty { tickets.removeAll { $0.deadline <= now } }
        return expired
    }

    private func hasSlot(for origin: SourceURL.Origin) -> Bool {
        running < maxRunning && runningPerOrigin[origin, default: 0] < maxPerOrigin
    }
}
