// SPDX-License-Identifier: Apache-2.0

/// One thing that the writer of the disk tier is asked to do.
struct WriteJob: Sendable {
    /// What there is to do.
    enum Task: Sendable {
        /// Name a staged file, whose header is written, as the entry's; and save its source's record, if given.
        case commit(
            IndexEntry, OwnedDescriptor, durable: Bool, record: SourceRecord?, PurgeLedger.Permit?)
        /// The same for a body that has yet to be written.
        case store(PendingWrite, durable: Bool, record: SourceRecord?, PurgeLedger.Permit?)
        /// Have an entry survive a loss of power, if that is still the file in its place; its bytes are on the disk already.
        case secure(IndexEntry, VerifiedFiles.Identity)
        /// Remove an entry.
        case remove(EntryID, because: EvictionReason)
        /// Remove an entry whose file is damaged, if that is still the file there; nil when there was none at all.
        case discard(EntryID, VerifiedFiles.Identity?)
        /// Save a source's record, if it is still what is known of the source when the job's turn comes.
        case save(SourceRecord, PurgeLedger.Permit?, isCurrent: @Sendable () -> Bool = { true })
        /// Remove every entry made from a source, and its record.
        case removeSource(CacheKey)
        /// Remember tags.
        case link([TagLink])
        /// Remove every result under a tag; `found` is called with them first.
        case removeTag(String, found: @Sendable ([TagLink]) -> Void)
        /// Remove everything; tags unless another tier has results that carry them.
        case removeAll(keepingTags: Bool)
        /// Do a whole sweep, accesses written first.
        case sweep
        /// Nothing; all that was asked before is done then.
        case nothing
    }

    /// What there is to do.
    let task: Task
    /// Called once when it is done, with how many entries or records it was about; nil when no caller waits.
    let completion: (@Sendable (Result<Int, DiskCacheError>) -> Void)?
    /// Whether it may wait for others to share a batch with.
    var isPatient = false
}

/// An entry whose body is in memory, and has yet to be written.
struct PendingWrite: Sendable {
    let description: EntryDescription
    let body: [UInt8]
    /// The body's CRC32C.
    let checksum: UInt32
    /// What is known of the source: stored beside the body.
    let record: SourceRecord?

    /// The same without a record, where a later one is known.
    var withoutRecord: PendingWrite {
        PendingWrite(description: description, body: body, checksum: checksum, record: nil)
    }

    var id: EntryID { EntryID(kind: description.kind, key: description.key) }
}

/// The jobs that wait for the writer, bounded, and whether it has to be woken. Pure.
///
/// Patient jobs collect until a batch is full, an impatient one comes, or the alarm rings; jobs are done in the order in
/// which they came.
struct WriteInbox: Sendable {
    /// What became of a job that was handed in.
    enum Acceptance {
        /// It waits, and the writer knows.
        case queued
        /// It waits, and the caller has to wake the writer.
        case mustWake
        /// It waits, and the caller has to call `ring` after a while.
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
    /// Whether it takes no more jobs.
    private(set) var isClosed = false
    /// What to call to show that the writer works: one for each watcher, whatever the limit on jobs is.
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

    /// Ends the patience of those that wait; true when the caller has to wake the writer.
    mutating func ring() -> Bool {
        isAlarmSet = false
        due = jobs.count
        return due > 0 && wake()
    }

    /// Notes that the writer has something to do; true when the caller has to wake it.
    mutating func wake() -> Bool {
        defer { isAwake = true }
        return !isAwake
    }

    /// Has the writer call `answer` before its next batch; true when the caller has to wake it, nil when it has been closed.
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

    /// Takes no more jobs; `completion` runs when those that wait are done. True when the caller has to wake the writer.
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
}
