// SPDX-License-Identifier: Apache-2.0

/// The jobs that wait for the writer, bounded, and whether it has to be woken. Pure.
///
/// Patient jobs, for which nobody waits, collect until a batch is full, an impatient one comes, or the alarm rings: the
/// order is always that in which they came.
struct WriteInbox: Sendable {
    /// What became of a job that was handed in.
    enum Acceptance {
        /// It waits, and the writer knows.
        case queued
        /// It waits, and somebody has to wake the writer.
        case mustWake
        /// It waits, and somebody has to call `ring` after a while.
        case mustSetAlarm
        /// It was refused.
        case refused(DiskCacheError)
    }

    private let limit: Int
    private let batchSize: Int
    private var jobs: [WriteJob] = []
    private var isAwake = false
    /// How many of those that came first are to be done now.
    private var due = 0
    private var isAlarmSet = false
    private var closing: (@Sendable () -> Void)?
    private var isClosed = false
    /// What to call to show that the writer works: as many as watch it, whatever the limit on jobs is.
    private var pings: [@Sendable () -> Void] = []

    /// Whether no job waits.
    var isEmpty: Bool { jobs.isEmpty }

    /// An empty inbox of at most `limit` jobs, of which patient ones wait until there are `batchSize`.
    init(limit: Int, batchSize: Int) {
        self.limit = limit
        self.batchSize = batchSize
    }

    /// Hands a job in.
    mutating func add(_ job: WriteJob) -> Acceptance {
        guard !isClosed else { return .refused(.closed) }
        guard jobs.count < limit else { return .refused(.overloaded) }
        jobs.append(job)
        if job.isPatient, jobs.count - due < batchSize {
            defer { isAlarmSet = true }
            return isAlarmSet ? .queued : .mustSetAlarm
        }
        due = jobs.count
        return wake() ? .mustWake : .queued
    }

    /// Ends the patience of those that wait; true when somebody has to wake the writer.
    mutating func ring() -> Bool {
        isAlarmSet = false
        due = jobs.count
        return due > 0 && wake()
    }

    /// Notes that the writer has something to do; true when somebody has to wake it.
    mutating func wake() -> Bool {
        defer { isAwake = true }
        return !isAwake
    }

    /// Has the writer call `answer` before its next batch; true when somebody has to wake it, nil when it has been closed.
    mutating func ask(_ answer: @escaping @Sendable () -> Void) -> Bool? {
        guard !isClosed else { return nil }
        pings.append(answer)
        return wake()
    }

    /// Takes what to call to show that the writer works.
    mutating func takePings() -> [@Sendable () -> Void] {
        defer { pings = [] }
        return pings
    }

    /// Takes no more jobs; `completion` runs when those that wait are done. True when somebody has to wake the writer.
    mutating func close(_ completion: @escaping @Sendable () -> Void) -> Bool {
        if isClosed {
            let earlier = closing
            closing = {
                earlier?()
                completion()
            }
        } else {
            isClosed = true
            due = jobs.count
            closing = completion
        }
        return wake()
    }

    /// Takes the jobs that waited longest, if it is time for them.
    mutating func takeBatch() -> [WriteJob] {
        guard due > 0 else { return [] }
        let batch = Array(jobs.prefix(batchSize))
        jobs.removeFirst(batch.count)
        due = max(0, due - batch.count)
        return batch
    }

    /// Lets the writer sleep unless something is due; whether it may, and what to call if it was the last time.
    mutating func sleep() -> (mayRest: Bool, closing: (@Sendable () -> Void)?) {
        guard due == 0, pings.isEmpty else { return (false, nil) }
        isAwake = false
        defer { closing = nil }
        return (true, closing)
    }

    /// Whether it takes no more jobs.
    var isShut: Bool { isClosed }
}
