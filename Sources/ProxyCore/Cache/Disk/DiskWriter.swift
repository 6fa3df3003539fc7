// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Primitives
import Synchronization

/// The writing side of the disk tier: the one thread that names and removes files and writes the index.
///
/// A serial Dispatch queue, so that its work has an order. It takes jobs in batches, one transaction each:
/// the busier, the cheaper. Sweeps and scans of the folder run in small steps between batches.
///
/// Safe because everything mutable but the inbox, which has a lock, is used on the queue alone.
final class DiskWriter: @unchecked Sendable {
    let storage: DiskStorage
    /// Whether there may be files that the index does not know: it is new, or the last process did not end in order, had not
    /// scanned all, or could not remove some.
    let needsScan: Bool
    private let queue = DispatchQueue(label: "disk cache writer")
    private let inbox = Mutex(WriteInbox())
    /// Runs `drain` once more after each `wake`, however many come before it.
    private let wakeUps: any DispatchSourceUserDataAdd
    /// Waits for so many microseconds.
    private let pause: @Sendable (UInt32) -> Void

    // MARK: State of the queue

    private var isShutDown = false
    /// The source that was read last of those whose record outdates files.
    var lastOutdated: CacheKey?
    /// The steps that are left of the sweep in progress, and whether another one is to follow.
    var sweep: ArraySlice<SweepStep> = []
    var mustSweep = false
    /// How many bytes the sweep is to leave, once it is known that there are too many.
    var sweepTarget: Int64?
    /// The folders that have yet to be scanned.
    var scan: FolderScan
    /// Whether files were left to the next start, which scans the folder.
    private var hasAbandonedFiles = false
    /// The access times that the sweep has yet to write.
    var accessed: [(id: EntryID, time: Int64)] = []
    /// Whether there may be discarded folders; true at the start, since another process may have left some.
    var hasTrash = true

    init(storage: DiskStorage, pause: @escaping @Sendable (UInt32) -> Void) {
        self.storage = storage
        self.pause = pause
        wakeUps = DispatchSource.makeUserDataAddSource(queue: queue)
        needsScan = !storage.isOff && (storage.lock.needsScan || storage.index.state.isNew)
        scan = FolderScan(of: needsScan ? DiskFolder.Shard.all : [])
        // Nothing is found until there is a folder.
        if storage.isOff { storage.entries.markComplete() }
        wakeUps.setEventHandler { [weak self] in self?.drain() }
        wakeUps.activate()
    }

    /// Begins to read the index, and to sweep.
    func start() {
        scheduleSweep()
        wake()
    }

    /// Leaves files that can't be removed, and have no rows, to the next start. A purge meanwhile does not find them, so a
    /// generation begins in which their own records do not count.
    func abandonFiles() throws(DiskCacheError) {
        hasAbandonedFiles = true
        try storage.index.beginGeneration()
    }

    // MARK: - From any thread

    /// Runs a job, and returns its result once it is in the index.
    /// - Parameters:
    ///   - client: the client whose entry it stores; nil for the daemon itself and for purges.
    ///   - work: the job.
    /// - Throws: `overloaded` if too many wait already, `closed`, and what went wrong; a failure is counted.
    func perform<Value: Sendable>(
        for client: ClientID? = nil, _ work: @escaping WriteJob.Work<Value>
    ) async throws(DiskCacheError) -> Value {
        let result: Result<Value, DiskCacheError> = await withCheckedContinuation { continuation in
            do throws(DiskCacheError) {
                try submit(WriteJob(for: client, work) { continuation.resume(returning: $0) })
            } catch {
                storage.failed(with: error)
                continuation.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }

    /// Queues a job without waiting for it; one for which there is no space is dropped, and counted.
    func enqueue(_ work: @escaping WriteJob.Work<Void>) {
        do throws(DiskCacheError) {
            try submit(WriteJob(work))
        } catch {
            storage.counters.withLock { $0.writeErrors += 1 }
        }
    }

    /// Queues a job; a deferred one runs within `limits.storeDelay`.
    /// - Throws: `overloaded` and `closed`; then it never runs.
    func submit(_ job: WriteJob) throws(DiskCacheError) {
        let limits = storage.configuration.limits
        let (isDue, isFirst) = try inbox.withLock { (inbox) throws(DiskCacheError) in
            guard !inbox.isClosed else { throw .closed }
            guard inbox.append(job, limit: limits.maxWaitingWrites) else { throw .overloaded }
            if !job.isDeferred || inbox.jobs.count >= limits.batchSize { inbox.isDue = true }
            return (inbox.isDue, inbox.jobs.count == 1)
        }
        if isDue { return wake() }
        guard isFirst else { return }
        // It may fire after these jobs have run: then it makes others due a little earlier.
        queue.asyncAfter(deadline: .now() + .milliseconds(limits.storeDelay.milliseconds)) {
            self.inbox.withLock { $0.isDue = true }
            self.drain()
        }
    }

    /// Has the writer look for jobs that are due and for steps of housekeeping, at once or after what it does now.
    func wake() { wakeUps.add(data: 1) }

    /// Accepts no more jobs, runs those that wait, writes accesses, and closes the index.
    func close() async {
        inbox.withLock { ($0.isClosed, $0.isDue) = (true, true) }
        await withCheckedContinuation { continuation in
            queue.async {
                self.shutDown()
                continuation.resume()
            }
        }
    }

    /// Waits for the writer's thread to answer, however many jobs wait.
    func ping() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    private var isClosed: Bool { inbox.withLock(\.isClosed) }

    // MARK: - On the queue

    /// Runs a batch of jobs or a step of housekeeping, and the rest after what else the queue has to do.
    private func drain() {
        let batch = inbox.withLock { $0.takeBatch(batchSize) }
        if !batch.isEmpty { run(batch) }
        guard !isClosed else { return }
        let hasMore = doHousekeepingInPauses()
        if hasMore || inbox.withLock(\.isDue) { wake() }
    }

    /// Runs a step of housekeeping, and then nothing for as long as that took: on a machine with few cores,
    /// answers would otherwise wait for every step.
    func doHousekeepingInPauses() -> Bool {
        let began = DispatchTime.now().uptimeNanoseconds
        guard doHousekeeping() else { return false }
        let spent = DispatchTime.now().uptimeNanoseconds - began
        if inbox.withLock({ $0.jobs.isEmpty }) { pause(UInt32(min(spent / 1_000, Self.longestPause))) }
        return true
    }

    /// The longest pause between two steps, in microseconds.
    private static let longestPause: UInt64 = 5_000

    private func shutDown() {
        guard !isShutDown else { return }
        isShutDown = true
        while case let batch = inbox.withLock({ $0.takeBatch(batchSize) }), !batch.isEmpty { run(batch) }
        wakeUps.cancel()
        finishHousekeeping()
        storage.index.close()
        storage.lock.release(isScanned: scan.isComplete && !hasAbandonedFiles)
    }

    private func scheduleSweep() {
        queue.asyncAfter(deadline: .now() + .milliseconds(storage.bounds.sweepInterval)) { [weak self] in
            guard let self, !isClosed else { return }
            checkPlace()
            scan.retry()
            mustSweep = true
            wake()
            scheduleSweep()
        }
    }
}
