// SPDX-License-Identifier: Apache-2.0

/// The jobs that wait for the writer, bounded, and whether the writer must be woken. Pure.
///
/// Deferred jobs collect until a batch is full, an urgent one comes, or a timer fires; jobs run in the
/// order in which they came.
struct WriteInbox: Sendable {
    /// What a caller that has added a job must do.
    enum NextStep {
        /// Nothing.
        case none
        /// Wake the writer.
        case wake
        /// Call `timerFired` after the delay.
        case setTimer
    }

    private let limit: Int
    private let batchSize: Int
    private var jobs: [WriteJob] = []
    private var isAwake = false
    /// Whether the writer has been given work since it last took a batch.
    private var hasWork = false
    /// Whether the jobs are to run now.
    private var isDue = false
    /// Whether it accepts no more jobs.
    private(set) var isClosed = false

    /// Whether no job waits.
    var isEmpty: Bool { jobs.isEmpty }

    /// Creates an empty inbox of at most `limit` jobs, of which deferred ones wait until there are
    /// `batchSize`.
    init(limit: Int, batchSize: Int) {
        self.limit = limit
        self.batchSize = batchSize
    }

    /// Adds a job.
    /// - Throws: `closed`, and `overloaded`.
    mutating func add(_ job: WriteJob) throws(DiskCacheError) -> NextStep {
        guard !isClosed else { throw .closed }
        guard jobs.count < limit else { throw .overloaded }
        jobs.append(job)
        // The timer of a job that ran earlier may fire before this one's: it then waits for less.
        if job.isDeferred, !isDue, jobs.count < batchSize { return jobs.count == 1 ? .setTimer : .none }
        isDue = true
        return wake() ? .wake : .none
    }

    /// Makes deferred jobs due; true if the caller must wake the writer.
    mutating func timerFired() -> Bool {
        isDue = !jobs.isEmpty
        return isDue && wake()
    }

    /// Records that the writer has work; true if the caller must wake it.
    mutating func wake() -> Bool {
        defer { (isAwake, hasWork) = (true, true) }
        return !isAwake
    }

    /// Accepts no more jobs; those that wait are due.
    mutating func close() { (isClosed, isDue) = (true, true) }

    /// Removes and returns the jobs that have waited longest, if they are due.
    mutating func takeBatch() -> [WriteJob] {
        hasWork = false
        guard isDue else { return [] }
        let batch = Array(jobs.prefix(batchSize))
        jobs.removeFirst(batch.count)
        isDue = !jobs.isEmpty
        return batch
    }

    /// Lets the writer sleep; false if a job is due, or it was woken after it had looked for work.
    mutating func sleep() -> Bool {
        isAwake = isDue || hasWork
        return !isAwake
    }
}
