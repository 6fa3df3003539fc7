// SPDX-License-Identifier: Apache-2.0

/// Jobs that wait, in a queue for each client, and how many of each run: the client with the fewest running jobs is served next, of
/// several the one that was served longest ago. Pure; O(clients that wait).
struct ClientTurns<Job: Sendable>: Sendable {
    private let maxPerClient: Int, maxWaiting: Int
    private var queues: [ClientID?: FIFO<Job>] = [:]
    /// The clients with a queue; the first was served longest ago.
    private var turns: [ClientID?] = []
    /// Without zeros.
    private var running: [ClientID?: Int] = [:]
    private var count = 0

    /// Creates empty queues.
    /// - Parameters:
    ///   - maxPerClient: running jobs of one client; does not apply to nil.
    ///   - maxWaiting: jobs that wait.
    init(maxPerClient: Int, maxWaiting: Int) {
        (self.maxPerClient, self.maxWaiting) = (maxPerClient, maxWaiting)
    }

    /// Whether a client that has nothing waiting may run another job, which then counts as running.
    mutating func starts(_ client: ClientID?) -> Bool {
        guard mayRun(client) else { return false }
        running[client, default: 0] += 1
        return true
    }

    /// Has a job wait. Returns the one for which there is no place: the newest of the client with the most waiting jobs.
    mutating func append(_ job: Job, for client: ClientID?) -> Job? {
        if queues[client] == nil { turns.append(client) }
        queues[client, default: FIFO()].append(job)
        count += 1
        guard count > maxWaiting,
            let longest = turns.max(by: { length(of: $0, beside: client) < length(of: $1, beside: client) })
        else { return nil }
        return remove(at: (queues[longest]?.count ?? 0) - 1, of: longest)
    }

    /// Removes the job whose turn it is, which then counts as running; nil if none may run.
    mutating func takeNext() -> (Job, ClientID?)? {
        let able = turns.filter(mayRun)
        guard let client = able.min(by: { running[$0, default: 0] < running[$1, default: 0] }),
            let job = remove(at: 0, of: client)
        else { return nil }
        running[client, default: 0] += 1
        if queues[client] != nil {
            turns.removeAll { $0 == client }
            turns.append(client)
        }
        return (job, client)
    }

    mutating func ended(_ client: ClientID?) {
        let count = running[client, default: 0] - 1
        running[client] = count > 0 ? count : nil
    }

    private func mayRun(_ client: ClientID?) -> Bool {
        client == nil || running[client, default: 0] < maxPerClient
    }

    /// The length of a client's queue; of equal ones that of the client whose job comes last is the longest.
    private func length(of client: ClientID?, beside last: ClientID?) -> (Int, Int) {
        (queues[client]?.count ?? 0, client == last ? 1 : 0)
    }

    private mutating func remove(at index: Int, of client: ClientID?) -> Job? {
        guard let job = queues[client]?.remove(at: index) else { return nil }
        count -= 1
        if queues[client]?.isEmpty ?? true {
            queues[client] = nil
            turns.removeAll { $0 == client }
        }
        return job
    }
}
