// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Primitives
import Synchronization

/// The writing side of the disk tier: the one thread that names and removes files and writes the index.
///
/// A serial Dispatch queue, so that its work needs no lock and has an order. It takes jobs in batches, one
/// transaction each: the busier, the cheaper. Sweeps and scans of the folder run in small steps between
/// batches.
final class DiskWriter: Sendable {
    let parts: DiskParts
    let housekeeping: Mutex<Housekeeping>
    private let queue = DispatchQueue(label: "disk cache writer", attributes: .initiallyInactive)
    private let inbox: Mutex<WriteInbox>

    /// Creates a writer that accepts jobs but runs none before `load`.
    init(parts: DiskParts) {
        self.parts = parts
        let limits = parts.configuration.limits
        inbox = Mutex(WriteInbox(limit: limits.maxWaitingWrites, batchSize: limits.batchSize))
        housekeeping = Mutex(Housekeeping(scan: parts.needsScan ? DiskFolder.Shard.all : []))
    }

    /// Reads the whole index into memory, and starts to write; called once, on a thread that may block for
    /// seconds.
    ///
    /// The writer starts as soon as the index's state is fixed, so that its changes are counted exactly once.
    func load() {
        guard !parts.isOff else {
            housekeeping.withLock { $0.loading = .done }
            parts.entries.markComplete()
            return begin()
        }
        do {
            var tally = DiskTally()
            tally.records = try parts.index.load(begun: begin) { id, bytes in
                parts.entries.insert(id)
                tally.add(entries: 1, bytes: parts.index.allocated(bytes), of: id.kind)
            }
            parts.counters.add(tally)
            parts.measure()
        } catch {
            // The set stays incomplete then: every look-up queries the file system, until there is another
            // index.
            parts.counters.failedToRead()
            housekeeping.withLock { $0.loading = .failed }
            parts.monitor.failed(with: .brokenIndex("\(error)"))
            begin()
            return wake()
        }
        let knowsAll = housekeeping.withLock { state in
            state.loading = .done
            return state.scan.isEmpty
        }
        if knowsAll { parts.entries.markComplete() }
        wake()
    }

    private func begin() {
        let isFirst = housekeeping.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
        guard isFirst else { return }
        queue.activate()
        scheduleSweep()
        wake()
    }

    // MARK: - From any thread

    /// Runs a job and returns how many entries or records it concerned.
    /// - Throws: `overloaded` if too many wait already, `closed`, and what went wrong.
    func perform(_ task: WriteJob.Task) async throws(DiskCacheError) -> Int {
        let result: Result<Int, DiskCacheError> = await withCheckedContinuation { continuation in
            let job = WriteJob(task: task) { continuation.resume(returning: $0) }
            if let refusal = submit(job) { continuation.resume(returning: .failure(refusal)) }
        }
        return try result.get()
    }

    /// Queues a job without waiting for it; one for which there is no space is dropped, and counted.
    func enqueue(_ task: WriteJob.Task) {
        if submit(WriteJob(task: task, completion: nil)) != nil { parts.counters.failedToWrite() }
    }

    /// Queues a job that runs within `limits.storeDelay`; `completion` is called then, on the writer's
    /// thread.
    ///
    /// - Returns: why it will never run; nil if it will.
    func enqueueDeferred(
        _ task: WriteJob.Task, _ completion: @escaping @Sendable (Result<Int, DiskCacheError>) -> Void
    ) -> DiskCacheError? {
        submit(WriteJob(task: task, completion: completion, isDeferred: true))
    }

    /// Does housekeeping soon: steps of a sweep or scan that wait.
    func wake() {
        if inbox.withLock({ $0.wake() }) { queue.async { self.drain() } }
    }

    /// Does housekeeping at a later time.
    func wake(at time: DispatchTime) {
        queue.asyncAfter(deadline: time) { [weak self] in
            guard let self, !inbox.withLock({ $0.isClosed }) else { return }
            wake()
        }
    }

    /// Accepts no more jobs, runs those that wait, writes accesses, and closes the index.
    func close() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            if inbox.withLock({ $0.close { continuation.resume() } }) { queue.async { self.drain() } }
        }
    }

    /// Waits for the writer's thread to answer; returns at once before it has started and once it has been
    /// closed.
    func ping() async {
        guard housekeeping.withLock(\.hasBegun) else { return }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            switch inbox.withLock({ $0.addPing { continuation.resume() } }) {
            case true?: queue.async { self.drain() }
            case false?: return
            case nil: continuation.resume()
            }
        }
    }

    private func submit(_ job: WriteJob) -> DiskCacheError? {
        switch inbox.withLock({ $0.add(job) }) {
        case .queued: return nil
        case .mustWake:
            queue.async { self.drain() }
            return nil
        case .mustSetTimer:
            let delay = parts.configuration.limits.storeDelay.milliseconds
            queue.asyncAfter(deadline: .now() + .milliseconds(delay)) {
                if self.inbox.withLock({ $0.timerFired() }) { self.drain() }
            }
            return nil
        case .refused(let error): return error
        }
    }

    // MARK: - On the queue

    private func drain() {
        while true {
            let batch = inbox.withLock { $0.takeBatch() }
            if !batch.isEmpty { run(batch) }
            for answer in inbox.withLock({ $0.takePings() }) { answer() }
            if inbox.withLock({ $0.isClosed }) {
                finishHousekeeping()
            } else if doHousekeepingInPauses() {
                continue
            }
            let (mayRest, closing) = inbox.withLock { $0.sleep() }
            guard mayRest else { continue }
            if let closing {
                shutDown()
                closing()
            }
            return
        }
    }

    /// Runs a step of housekeeping, and then nothing for as long as that took: on a machine with few cores,
    /// answers would otherwise wait for every step.
    private func doHousekeepingInPauses() -> Bool {
        let began = DispatchTime.now().uptimeNanoseconds
        guard doHousekeeping() else { return false }
        let spent = DispatchTime.now().uptimeNanoseconds - began
        if inbox.withLock(\.isEmpty) { usleep(UInt32(min(spent / 1_000, Self.longestPause))) }
        return true
    }

    /// The longest pause between two steps, in microseconds.
    private static let longestPause: UInt64 = 5_000

    private func shutDown() {
        let isFirst = housekeeping.withLock { state in
            defer { state.hasEnded = true }
            return !state.hasEnded
        }
        guard isFirst else { return }
        do {
            try parts.index.close()
        } catch {
            // Nothing is lost: the next start finds the changes in the index's own log.
            parts.counters.failedToWrite()
        }
        parts.lock.release()
    }

    private func scheduleSweep() {
        let interval = parts.bounds.withLock(\.sweepInterval)
        queue.asyncAfter(deadline: .now() + .milliseconds(interval)) { [weak self] in
            guard let self, !inbox.withLock({ $0.isClosed }) else { return }
            checkPlace()
            beginSweep(nil)
            wake()
            scheduleSweep()
        }
    }
}

/// The work of the writer between batches, and its progress.
struct Housekeeping: Sendable {
    /// The steps of a sweep, in order.
    enum Phase: Sendable {
        /// Removing what is too old.
        case age
        /// Removing the source records saved longest ago, when there are too many or the index is too large.
        case records
        /// Purging the results of the tags seen longest ago, when there are too many.
        case tags
        /// Returning unused pages of the index.
        case vacuum
        /// Removing the oldest down to the low-water mark, when the tier is over its size.
        case size
    }

    /// The reading of the index at the start.
    enum Loading: Sendable {
        case underway, done, failed
    }

    /// A sweep in progress.
    struct Sweep: Sendable {
        var phase = Phase.age
        /// How many bytes are to be left, once it is known that there are too many.
        var target: Int64?
        /// Entries removed so far.
        var removed = 0
        /// Called when it is over.
        var completions: [@Sendable (Result<Int, DiskCacheError>) -> Void] = []
    }

    var hasBegun = false
    /// Whether the index is closed.
    var hasEnded = false
    var sweep: Sweep?
    /// Requests for a sweep that came during one; they get the next.
    var waiting: [@Sendable (Result<Int, DiskCacheError>) -> Void] = []
    /// Entries whose accesses are being written, from the last to the first.
    var accessed: [EntryID] = []
    /// Whether the collected accesses are to be written next, however few.
    var mustWriteAccesses = false
    /// The next time for that, in nanoseconds of the uptime.
    var accessesNotBefore: UInt64 = 0
    /// Folders that have yet to be scanned.
    var scan: [DiskFolder.Shard]
    /// Those of them that could not be scanned, and are scanned again after the next sweep; and why.
    var unreadable: [DiskFolder.Shard] = []
    var whyUnreadable: DiskCacheError?
    /// Names found in the folder that is being scanned.
    var names: [String] = []
    var loading = Loading.underway
    /// Whether there may be discarded folders; true at the start, since another process may have left some.
    var hasTrash = true

    /// Creates the state with these folders to scan.
    init(scan: [DiskFolder.Shard]) {
        self.scan = scan
    }
}
