// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The jobs that wait for the writer, in the order in which they came. Pure.
///
/// One client has at most half of the places, and the last eighth is for the daemon itself, whose jobs are purges, too.
struct WriteInbox: Sendable {
    private(set) var jobs: [WriteJob] = []
    /// Jobs by client; without zeros.
    private var counts: [ClientID: Int] = [:]
    /// Whether they are to run now: deferred ones wait until a batch is full, an urgent one comes, or a timer fires.
    var isDue = false
    /// Whether it accepts no more jobs.
    var isClosed = false

    /// Adds a job; false if there is no place for it.
    /// - Parameters:
    ///   - job: the job.
    ///   - limit: the number of places.
    mutating func append(_ job: WriteJob, limit: Int) -> Bool {
        if let client = job.client {
            let count = counts[client, default: 0]
            guard jobs.count < limit - limit / 8, count < max(1, limit / 2) else { return false }
            counts[client] = count + 1
        }
        guard jobs.count < limit else { return false }
        jobs.append(job)
        return true
    }

    /// Removes and returns the jobs that have waited longest, if they are due.
    mutating func takeBatch(_ size: Int) -> [WriteJob] {
        guard isDue else { return [] }
        let batch = Array(jobs.prefix(size))
        jobs.removeFirst(batch.count)
        for client in batch.lazy.compactMap(\.client) {
            let count = counts[client, default: 0] - 1
            counts[client] = count > 0 ? count : nil
        }
        isDue = !jobs.isEmpty
        return batch
    }
}
