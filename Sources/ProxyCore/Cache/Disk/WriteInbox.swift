// SPDX-License-Identifier: Apache-2.0

/// The jobs that wait for the writer, in the order in which they came. Pure.
struct WriteInbox: Sendable {
    var jobs: [WriteJob] = []
    /// Whether they are to run now: deferred ones wait until a batch is full, an urgent one comes, or a timer fires.
    var isDue = false
    /// Whether it accepts no more jobs.
    var isClosed = false

    /// Removes and returns the jobs that have waited longest, if they are due.
    mutating func takeBatch(_ size: Int) -> [WriteJob] {
        guard isDue else { return [] }
        let batch = Array(jobs.prefix(size))
        jobs.removeFirst(batch.count)
        isDue = !jobs.isEmpty
        return batch
    }
}
