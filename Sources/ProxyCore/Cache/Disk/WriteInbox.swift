// SPDX-License-Identifier: Apache-2.0

/// The jobs that wait for the writer, bounded, and whether the writer must be woken. Pure.
///
/// Deferred jobs collect until a batch is full, an urgent one comes, or the timer fires; jobs run in the
/// order in which they came.
struct WriteInbox: Sendable {
    /// The result of adding a job.
    enum Acceptance {
        /// It waits, and the writer has been woken already.
        case queued
        /// It waits, and the caller must wake the writer.
        case mustWake
        /// It waits, and the caller must call `timerFired` after the delay.
        case mustSetTimer
        /// It was refused.
        case refused(DiskCacheError)
    }

    private let limit: Int
    private let batchSize: Int
    private var jobs: [WriteJob] = []
    private var isAwake = false
    /// How many of the first jobs are to run now.
    private var due = 0
    private var isTimerSet = false
    private var closing: [@Sendable () -> Void] = []
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
    mutating func add(_ job: WriteJob) -> Acceptance {
        guard !isClosed else { return .refused(.closed) }
        guard jobs.count < limit else { return .refused(.overloaded) }
        jobs.append(job)
        if job.isDeferred, jobs.count - due < batchSize {
            defer { isTimerSet = true }
            return isTimerSet ? .queued : .mustSetTimer
        }
        due = jobs.count
        return wake() ? .mustWake : .queued
    }

    /// Makes deferred jobs due; true if the caller must wake the writer.
    mutating func timerFired() -> Bool {
        isTimerSet = false
        due = jobs.count
        return due > 0 && wake()
    }

    /// Records that the writer has work; true if the caller must wake it.
    mutating func wake() -> Bool {
        defer { isAwake = true }
        return !isAwake
    }

    /// Accepts no more jobs; `completion` runs when those that wait are done. True if the caller must wake
    /// the writer.
    mutating func close(_ completion: @escaping @Sendable () -> Void) -> Bool {
        closing.append(completion)
        isClosed = true
        due = jobs.count
        return wake()
    }

    /// Removes and returns the jobs that have waited longest, if they are due.
    mutating func takeBatch() -> [WriteJob] {
        guard due > 0 else { return [] }
        let batch = Array(jobs.prefix(batchSize))
        jobs.removeFirst(batch.count)
        due = max(0, due - batch.count)
        return batch
    }

    /// Lets the writer sleep unless something is due; returns whether it may, and what to call if it was
    /// closed.
    mutating func sleep() -> (mayRest: Bool, closing: [@Sendable () -> Void]) {
        guard due == 0 else { return (false, []) }
        isAwake = false
        defer { closing = [] }
        return (true, closing)
    }
}
