// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// The jobs that wait for a worker, and whose turn it is. Pure; O(n) in the waiting jobs.
///
/// Jobs of a higher priority go first. Within a priority the next worker goes to the client that has the
/// fewest workers now, of those to the one that has used the least worker time, of its jobs to the oldest.
/// Use is measured and not estimated. A client that is new, or comes back, starts level with the waiting
/// client that has used the least: it goes neither before all others for as long as they have been busy, nor
/// after them.
///
/// A job that several clients wait for counts for each of them, runs with the turn of the first, and they
/// share its use.
package struct JobQueue<Job> {
    private struct Waiting {
        let id: Int
        let job: Job
        let waiters: Waiters
        /// Whether it is known to be much work.
        var isExpensive = false
    }

    private struct Running {
        var start: ContinuousClock.Instant
        let clients: [ClientID?]
    }

    /// What a client has used of the workers.
    private struct Use {
        var time = Duration.zero
        var workers = 0
    }

    /// In the order in which they came.
    private var waiting: [Waiting] = []
    private var running: [Int: Running] = [:]
    /// Clients with a job that waits or runs, and those that have used more than `startingUse`, at most
    /// `mostRemembered`: without these, a client that requests one job after the other would start anew each time.
    private var uses: [ClientID?: Use] = [:]
    /// The use at which new clients start.
    private var startingUse = Duration.zero

    /// Clients beyond this number are removed as soon as they have no job.
    private static var mostRemembered: Int { 4_096 }

    /// Creates an empty queue.
    package init() {}

    package var count: Int { waiting.count }

    /// Whether none waits.
    var isEmpty: Bool { waiting.isEmpty }

    // MARK: - Adding and removing

    /// Adds a job after all others of its clients.
    package mutating func append(_ job: Job, id: Int, for waiters: Waiters) {
        for client in waiters.current.clients { raiseToStartingUse(client) }
        waiting.append(Waiting(id: id, job: job, waiters: waiters))
    }

    /// Raises the use of a client that has nothing waiting to the starting use, so that idle time can't be saved up.
    private mutating func raiseToStartingUse(_ client: ClientID?) {
        guard !waits(client) else { return }
        uses[client, default: Use()].time = max(uses[client]?.time ?? .zero, startingUse)
    }

    /// Returns a job that was taken and has not ended to the front.
    /// - Parameters:
    ///   - job, id, waiters: the job.
    ///   - isExpensive: whether the job has turned out to be much work.
    ///   - now: the time until which its clients have used a worker.
    mutating func putBack(
        _ job: Job, id: Int, for waiters: Waiters, isExpensive: Bool = false, at now: ContinuousClock.Instant
    ) {
        if let run = running.removeValue(forKey: id) { count(run, until: now) }
        waiting.insert(Waiting(id: id, job: job, waiters: waiters, isExpensive: isExpensive), at: 0)
    }

    /// Removes a job that is cancelled; nil if it does not wait.
    mutating func remove(_ id: Int) -> Job? {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return nil }
        return remove(at: index)
    }

    private mutating func remove(at index: Int) -> Job {
        let removed = waiting.remove(at: index)
        for client in removed.waiters.current.clients { forgetIfIdle(client) }
        return removed.job
    }

    mutating func removeAll() -> [Job] {
        defer {
            waiting = []
        }
        return waiting.map(\.job)
    }

    /// Removes a client without a job that has used no more than those that wait.
    private mutating func forgetIfIdle(_ client: ClientID?) {
        guard let use = uses[client], use.workers == 0, !waits(client) else { return }
        if use.time <= startingUse { uses[client] = nil }
        guard uses.count > Self.mostRemembered else { return }
        let waitingClients = Set(waiting.flatMap { $0.waiters.current.clients })
        let startingUse = startingUse
        uses = uses.filter {
            $0.value.time > startingUse || $0.value.workers > 0 || waitingClients.contains($0.key)
        }
        guard uses.count > Self.mostRemembered else { return }
        uses = uses.filter { $0.value.workers > 0 || waitingClients.contains($0.key) }
    }

    private func waits(_ client: ClientID?) -> Bool {
        waiting.contains { $0.waiters.current.clients.contains(client) }
    }

    // MARK: - Turns

    /// Removes the job whose turn it is; it counts as running from then on.
    /// - Parameters:
    ///   - now: the time, by which running jobs have used their share.
    ///   - admitsExpensive: whether jobs that are known to be much work have a turn.
    package mutating func takeNext(at now: ContinuousClock.Instant, admitsExpensive: Bool = true) -> Job? {
        let spent = timeOfRunning(at: now)
        var best: (index: Int, priority: FetchPriority, use: Use)?
        var least: Duration?
        for (index, job) in waiting.enumerated() where admitsExpensive || !job.isExpensive {
            let waiters = job.waiters.current
            let use = waiters.clients.map { self.use(of: $0, spent) }.min(by: Self.isBefore) ?? Use()
            least = min(least ?? use.time, use.time)
            guard let known = best else {
                best = (index, waiters.priority, use)
                continue
            }
            let isNext =
                waiters.priority == known.priority
                ? Self.isBefore(use, known.use) : waiters.priority > known.priority
            if isNext { best = (index, waiters.priority, use) }
        }
        guard let best, let least else { return nil }
        startingUse = max(startingUse, least)
        let taken = waiting.remove(at: best.index)
        let clients = taken.waiters.current.clients
        for client in clients {
            // A client that joined a waiting job has no use yet.
            if uses[client] == nil { uses[client] = Use(time: startingUse) }
            uses[client]?.workers += 1
        }
        running[taken.id] = Running(start: now, clients: clients)
        return taken.job
    }

    /// Records that a job has ended.
    package mutating func end(_ id: Int, at now: ContinuousClock.Instant) {
        guard let run = running.removeValue(forKey: id) else { return }
        count(run, until: now)
        for client in run.clients { forgetIfIdle(client) }
    }

    /// Counts what the clients of a run have used.
    private mutating func count(_ run: Running, until now: ContinuousClock.Instant) {
        for client in run.clients {
            uses[client]?.workers -= 1
            uses[client]?.time += (now - run.start) / run.clients.count
        }
    }

    private static func isBefore(_ left: Use, _ right: Use) -> Bool {
        (left.workers, left.time) < (right.workers, right.time)
    }

    /// What the running jobs have used so far, by client.
    private func timeOfRunning(at now: ContinuousClock.Instant) -> [ClientID?: Duration] {
        var spent: [ClientID?: Duration] = [:]
        for run in running.values {
            for client in run.clients {
                spent[client, default: .zero] += (now - run.start) / run.clients.count
            }
        }
        return spent
    }

    private func use(of client: ClientID?, _ spent: [ClientID?: Duration]) -> Use {
        var use = uses[client] ?? Use(time: startingUse)
        use.time += spent[client] ?? .zero
        return use
    }

    // MARK: - A full queue

    /// Removes the job that is displaced by a new one in a full queue; nil if the new one is refused.
    ///
    /// A job of a lower priority is displaced by any; of the same one, the newest of the client with the most
    /// waiting jobs, if those are more than the new job's client would have. A job that several clients wait
    /// for counts as one of the client that has the fewest.
    package mutating func displace(for waiters: Waiters) -> Job? {
        var loads: [ClientID?: Int] = [:]
        let all = waiting.map(\.waiters.current)
        for client in all.flatMap(\.clients) { loads[client, default: 0] += 1 }
        let requester = waiters.current
        func load(_ waiters: Waiters.State) -> Int {
            waiters.clients.map { loads[$0] ?? 0 }.min() ?? 0
        }
        guard let lowest = all.map(\.priority).min(), lowest <= requester.priority else { return nil }
        var victim: (index: Int, load: Int)?
        for (index, waiters) in all.enumerated() where waiters.priority == lowest {
            let load = load(waiters)
            if load >= victim?.load ?? 0 { victim = (index, load) }
        }
        guard let victim, lowest < requester.priority || victim.load > load(requester) + 1 else { return nil }
        return remove(at: victim.index)
    }
}
