// SPDX-License-Identifier: Apache-2.0

/// The jobs that wait for the writer, bounded, and whether it has to be woken. Pure.
struct WriteInbox: Sendable {
    /// What became of a job that was handed in.
    enum Acceptance {
        /// It waits, and the writer knows.
        case queued
        /// It waits, and somebody has to wake the writer.
        case mustWake
        /// It was refused.
        case refused(DiskCacheError)
    }

    private let limit: Int
    private var jobs: [WriteJob] = []
    private var isAwake = false
    private var closing: (@Sendable () -> Void)?
    private var isClosed = false

    /// Whether no job waits.
    var isEmpty: Bool { jobs.isEmpty }

    /// An empty inbox of at most `limit` jobs.
    init(limit: Int) {
        self.limit = limit
    }

    /// Hands a job in.
    mutating func add(_ job: WriteJob) -> Acceptance {
        guard !isClosed else { return .refused(.closed) }
        guard jobs.count < limit else { return .refused(.overloaded) }
        jobs.append(job)
        return wake() ? .mustWake : .queued
    }

    /// Notes that the writer has something to do; true when somebody has to wake it.
    mutating func wake() -> Bool {
        defer { isAwake = true }
        return !isAwake
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
            closing = completion
        }
        return wake()
    }

    /// Takes the jobs that waited longest.
    mutating func take(atMost count: Int) -> [WriteJob] {
        let batch = Array(jobs.prefix(count))
        jobs.removeFirst(batch.count)
        return batch
    }

    /// Lets the writer sleep unless something waits; whether it may, and what to call if it was the last time.
    mutating func sleep() -> (mayRest: Bool, closing: (@Sendable () -> Void)?) {
        guard jobs.isEmpty else { return (false, nil) }
        isAwake = false
        defer { closing = nil }
        return (true, closing)
    }

    /// Whether it takes no more jobs.
    var isShut: Bool { isClosed }
}
