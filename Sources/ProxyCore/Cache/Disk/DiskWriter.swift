// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization

/// The writing side of the disk tier: the one thread that names and removes files and writes the index.
///
/// A serial Dispatch queue, so that what it does needs no lock and has an order. It takes what waits in batches, one
/// transaction each: the busier, the cheaper. Sweeping and looking through the folder go in small steps between batches.
final class DiskWriter: Sendable {
    let parts: DiskParts
    let housekeeping: Mutex<Housekeeping>
    private let queue = DispatchQueue(label: "disk cache writer", attributes: .initiallyInactive)
    private let inbox: Mutex<WriteInbox>

    /// A writer that accepts jobs but does none before `begin`.
    init(parts: DiskParts) {
        self.parts = parts
        let limits = parts.configuration.limits
        inbox = Mutex(WriteInbox(limit: limits.maxWaitingWrites, batchSize: limits.batchSize))
        housekeeping = Mutex(Housekeeping(scan: parts.needsScan ? DiskFolder.Shard.all : []))
    }

    /// Begins to work with what waits; a second call does nothing.
    func begin() {
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

    /// Does a job and returns how many entries or records it was about.
    /// - Throws: `overloaded` when too many wait already, `closed`, and what went wrong.
    func perform(_ task: WriteJob.Task) async throws(DiskCacheError) -> Int {
        let result: Result<Int, DiskCacheError> = await withCheckedContinuation { continuation in
            let job = WriteJob(task: task) { continuation.resume(returning: $0) }
            if let refusal = submit(job) { continuation.resume(returning: .failure(refusal)) }
        }
        return try result.get()
    }

    /// Has a job done without waiting for it; one that finds no room is forgotten, and counted.
    func enqueue(_ task: WriteJob.Task) {
        if submit(WriteJob(task: task, completion: nil)) != nil { parts.counters.failedToWrite() }
    }

    /// Has a job done within `limits.storeDelay`, for which nobody waits; `completion` is called then, on the writer's thread.
    ///
    /// - Returns: why it will never be done; nil when it will.
    func enqueuePatiently(
        _ task: WriteJob.Task, _ completion: @escaping @Sendable (Result<Int, DiskCacheError>) -> Void
    ) -> DiskCacheError? {
        submit(WriteJob(task: task, completion: completion, isPatient: true))
    }

    /// Sees to housekeeping soon: steps of a sweep or scan that wait.
    func wake() {
        if inbox.withLock({ $0.wake() }) { queue.async { self.drain() } }
    }

    /// Sees to housekeeping at some time to come.
    func wake(at time: DispatchTime) {
        queue.asyncAfter(deadline: time) { [weak self] in
            guard let self, !inbox.withLock({ $0.isShut }) else { return }
            wake()
        }
    }

    /// Takes no more jobs, does those that wait, writes accesses, and closes the index.
    func close() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            if inbox.withLock({ $0.close { continuation.resume() } }) { queue.async { self.drain() } }
        }
    }

    /// Waits for a sign of life from the writer's thread; returns at once before it has begun and once it has been closed.
    func ping() async {
        guard housekeeping.withLock(\.hasBegun) else { return }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            switch inbox.withLock({ $0.ask { continuation.resume() } }) {
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
        case .mustSetAlarm:
            let delay = parts.configuration.limits.storeDelay.milliseconds
            queue.asyncAfter(deadline: .now() + .milliseconds(delay)) {
                if self.inbox.withLock({ $0.ring() }) { self.drain() }
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
            if inbox.withLock({ $0.isShut }) {
                finishHousekeeping()
            } else if keepHouseInPauses() {
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

    /// Does a step of housekeeping, and then nothing for as long as that took: there are answers to be given, and on a
    /// machine with few cores they would wait for every step to end.
    private func keepHouseInPauses() -> Bool {
        let began = DispatchTime.now().uptimeNanoseconds
        guard keepHouse() else { return false }
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
            // Nothing is lost: the next start finds the changes in the index's own journal.
            parts.counters.failedToWrite()
        }
        parts.lock.release()
    }

    private func scheduleSweep() {
        let interval = parts.bounds.withLock(\.sweepInterval)
        queue.asyncAfter(deadline: .now() + .milliseconds(interval)) { [weak self] in
            guard let self, !inbox.withLock({ $0.isShut }) else { return }
            checkPlace()
            beginSweep(nil)
            wake()
            scheduleSweep()
        }
    }
}
