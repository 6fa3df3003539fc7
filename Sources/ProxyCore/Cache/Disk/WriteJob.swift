// SPDX-License-Identifier: Apache-2.0

import Bodies
import Freshness
import Primitives

/// One job of the disk tier's writer.
struct WriteJob: Sendable {
    /// The work.
    enum Task: Sendable {
        /// Name a staged file, whose header is written, as the entry's; and save its source's record, if given.
        case commit(
            IndexEntry, OwnedDescriptor, durable: Bool, record: SourceRecord?, PurgeToken?)
        /// The same for a body that has yet to be written.
        case store(PendingWrite, durable: Bool, record: SourceRecord?, PurgeToken?)
        /// Make an entry survive a power loss, if its file is still the one named; its bytes are on the disk
        /// already.
        case secure(IndexEntry, VerifiedFiles.Identity)
        /// Remove an entry.
        case remove(EntryID, because: EvictionReason)
        /// Remove an entry whose file is damaged, if that is still the file there; nil if there was none at
        /// all.
        case discard(EntryID, VerifiedFiles.Identity?)
        /// Save a source's record, if it is still the latest one of the source when the job runs.
        case save(SourceRecord, PurgeToken?, isCurrent: @Sendable () -> Bool = { true })
        /// Remove every entry made from a source, and its record.
        case removeSource(CacheKey)
        /// Store links of tags.
        case link([TagLink])
        /// Remove every result under a tag; `found` is called with them first.
        case removeTag(String, found: @Sendable ([TagLink]) -> Void)
        /// Remove everything; tags unless another tier has results that carry them.
        case removeAll(keepingTags: Bool)
        /// Do a whole sweep, accesses written first.
        case sweep
        /// Nothing; all earlier jobs are done then.
        case nothing
    }

    /// The work.
    let task: Task
    /// Called once when it is done, with how many entries or records it concerned; nil if no caller waits.
    let completion: (@Sendable (Result<Int, DiskCacheError>) -> Void)?
    /// Whether it may wait for others to share a batch with.
    var isDeferred = false
}

/// An entry whose body is in memory, and has yet to be written.
struct PendingWrite: Sendable {
    let description: EntryDescription
    let body: [UInt8]
    /// The body's CRC32C.
    let checksum: UInt32
    /// The record of the source: stored beside the body.
    let record: SourceRecord?

    /// The same without a record, if a later one is known.
    var withoutRecord: PendingWrite {
        PendingWrite(description: description, body: body, checksum: checksum, record: nil)
    }

    var id: EntryID { EntryID(kind: description.kind, key: description.key) }
}

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
    private var closing: (@Sendable () -> Void)?
    /// Whether it accepts no more jobs.
    private(set) var isClosed = false
    /// Calls that answer pings: one for each watcher, whatever the limit on jobs is.
    private var pings: [@Sendable () -> Void] = []

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

    /// Makes the writer call `answer` before its next batch; true if the caller must wake it, nil if it has
    /// been closed.
    mutating func addPing(_ answer: @escaping @Sendable () -> Void) -> Bool? {
        guard !isClosed else { return nil }
        pings.append(answer)
        return wake()
    }

    /// Removes and returns the calls that answer pings.
    mutating func takePings() -> [@Sendable () -> Void] {
        defer { pings = [] }
        return pings
    }

    /// Accepts no more jobs; `completion` runs when those that wait are done. True if the caller must wake
    /// the writer.
    mutating func close(_ completion: @escaping @Sendable () -> Void) -> Bool {
        let earlier = closing
        closing = {
            earlier?()
            completion()
        }
        if !isClosed { due = jobs.count }
        isClosed = true
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

    /// Lets the writer sleep unless something is due; returns whether it may, and what to call if it was the
    /// last time.
    mutating func sleep() -> (mayRest: Bool, closing: (@Sendable () -> Void)?) {
        guard due == 0, pings.isEmpty else { return (false, nil) }
        isAwake = false
        defer { closing = nil }
        return (true, closing)
    }
}
