// SPDX-License-Identifier: Apache-2.0

import Imaging
import Primitives

/// The pool's decisions about jobs and workers, without threads or processes.
///
/// Every change is made under the pool's lock; its effects are performed outside it (`takeEffect`).
struct PoolState {
    /// Jobs that may wait; beyond it `queueFull`.
    private(set) var depth: Int
    /// One for each worker.
    private(set) var slots: [Slot]
    private(set) var isStopping = false
    private var waiting = JobQueue<RenderJob>()
    private var running: [Int: Int] = [:]
    private var cancelled: Set<Int> = []
    private var lastID = 0
    private var restarts: [WorkerPool.RestartReason: Int] = [:]
    private var starting: (count: Int, CheckedContinuation<Result<Void, RenderError>, Never>)?
    private var startFailure: RenderError?
    private var stopping: [CheckedContinuation<Void, Never>] = []
    private var pings: [Ping] = []
    /// The sandbox of the worker that started last.
    private(set) var sandbox: SandboxReport?
    private var memory: MemoryBudget
    /// The workers that run a job of much work.
    private var expensive: Set<Int> = []
    /// The one job that waits until workers have nothing else to do, and the one that runs in the background.
    private var background: (waiting: RenderJob?, running: Int?)
    private var effect = Effect()

    /// The work of a job, in weighted megapixels (`WorkEstimate`), beyond which it is expensive: some 2 s.
    private static let expensiveWork = 80

    private struct Ping {
        var open: Set<Int>
        let continuation: CheckedContinuation<Void, Never>
    }

    /// Starts with all workers down.
    init(workers: Int, depth: Int, memory: Int) {
        self.memory = MemoryBudget(total: memory)
        slots = Array(repeating: Slot(), count: workers)
        self.depth = depth
    }

    /// Changes the maximum number of waiting jobs; those beyond it stay.
    mutating func resize(depth: Int) { self.depth = depth }

    /// Removes the effects of the changes so far, which are to be performed.
    mutating func takeEffect() -> Effect {
        defer { effect = Effect() }
        return effect
    }

    private mutating func fail(_ job: RenderJob, _ error: RenderError) {
        effect.failures.append((job, error))
    }

    private mutating func wake(_ slot: Int?) {
        guard let slot, let alert = slots[slot].alert else { return }
        effect.alerts.append(alert)
    }

    /// Wakes an idle worker where a job waits: the worker that had been woken for it has gone, or it may run only now.
    private mutating func wakeForWaiting() {
        if !waiting.isEmpty { _ = wakeIdle() }
    }

    /// Wakes an idle worker for a job; false if there is none.
    private mutating func wakeIdle() -> Bool {
        guard let idle = slots.firstIndex(where: { $0.phase == .idle }) else { return false }
        slots[idle].phase = .waking
        wake(idle)
        return true
    }

    // MARK: - Callers

    /// Issues the next job's number.
    mutating func newID() -> Int {
        lastID += 1
        return lastID
    }

    /// Queues a job and wakes an idle worker.
    /// - Returns: whether the job waits for a bounded time.
    mutating func submit(_ job: RenderJob) -> Bool {
        do throws(RenderError) {
            return try queue(job)
        } catch {
            fail(job, error)
            return false
        }
    }

    private mutating func queue(_ job: RenderJob) throws(RenderError) -> Bool {
        if cancelled.remove(job.id) != nil { throw .cancelled }
        guard !isStopping else { throw .unavailable("the pool is stopped") }
        if let unavailability { throw unavailability }
        if job.waiters.isBackground {
            try queueBackground(job)
            return false
        }
        if !wakeIdle() {
            // Jobs whose worker is waking do not count: it takes them in a moment.
            if waiting.count >= depth + slots.count(where: { $0.phase == .waking }) {
                guard let displaced = waiting.displace(for: job.waiters) else { throw .queueFull }
                fail(displaced, .queueFull)
            }
            endBackground()
        }
        waiting.append(job, id: job.id, for: job.waiters)
        return true
    }

    // MARK: - Work in the background

    /// Queues a job until a worker has nothing else to do, and another one as well: without a bound in time.
    private mutating func queueBackground(_ job: RenderJob) throws(RenderError) {
        guard background.waiting == nil, background.running == nil else { throw .queueFull }
        background.waiting = job
        let idle = slots.firstIndex { $0.phase == .idle }
        if waiting.isEmpty, let idle, hasIdle(besides: idle) { _ = wakeIdle() }
    }

    /// Removes the background job for a worker that has nothing else to do, if a client's next job finds
    /// another one idle.
    private mutating func takeBackground(for slot: Int) -> RenderJob? {
        guard let job = background.waiting, waiting.isEmpty, hasIdle(besides: slot) else { return nil }
        background = (nil, job.id)
        return job
    }

    private func hasIdle(besides slot: Int) -> Bool {
        slots.count == 1 || slots.indices.contains { $0 != slot && slots[$0].phase == .idle }
    }

    /// Ends the background job that runs, because a client's waits.
    private mutating func endBackground() {
        guard let id = background.running, let slot = running[id], slots[slot].alert != nil else { return }
        if cancelled.insert(id).inserted { wake(slot) }
    }

    /// Ends a waiting job, has the worker of a running one killed, and remembers one that is still to come.
    mutating func cancel(_ id: Int) {
        if let job = waiting.remove(id) { return fail(job, .cancelled) }
        if let job = background.waiting, job.id == id {
            background.waiting = nil
            return fail(job, .cancelled)
        }
        cancelled.insert(id)
        wake(running[id])
    }

    /// Drops a cancellation that came too late for its job.
    mutating func forget(_ id: Int) {
        cancelled.remove(id)
    }

    /// Ends a job that still waits at its deadline.
    mutating func expire(_ id: Int) {
        if let job = waiting.remove(id) { fail(job, .queueTimedOut) }
    }

    // MARK: - Threads

    /// Records that a slot's worker has warmed up, and whether it has a job already.
    mutating func workerStarted(
        _ slot: Int, pid: Int32, isBusy: Bool = false, at now: ContinuousClock.Instant
    ) {
        endUse(of: slot, at: now)
        slots[slot].failedStarts = 0
        slots[slot].pid = pid
        slots[slot].phase = isBusy ? .busy : .idle
        reportStart()
    }

    /// Records a worker's sandbox.
    mutating func noteSandbox(_ report: SandboxReport) {
        sandbox = report
    }

    /// Records that a slot's worker did not start.
    mutating func workerFailed(_ slot: Int, _ error: RenderError, at now: ContinuousClock.Instant) {
        endUse(of: slot, at: now)
        restarts[.start, default: 0] += 1
        startFailure = error
        slots[slot].failedStarts += 1
        if let reason = unavailability {
            for job in waiting.removeAll() { fail(job, reason) }
            if let job = background.waiting.take() { fail(job, reason) }
        }
        reportStart()
    }

    /// Consecutive failed starts of every worker after which no job waits for the next one.
    static let startsPerJob = 3

    /// Why no worker can be started; nil where one has started, or may yet.
    private var unavailability: RenderError? {
        guard slots.allSatisfy({ $0.failedStarts >= Self.startsPerJob }) else { return nil }
        return startFailure
    }

    /// Ends the turn of the job that a slot's last worker was killed for.
    private mutating func endUse(of slot: Int, at now: ContinuousClock.Instant) {
        if let job = slots[slot].lastJob.take() { waiting.end(job, at: now) }
    }

    /// Records that a slot's worker has exited; without a reason since the pool stops.
    /// - Parameters:
    ///   - slot: the worker's slot.
    ///   - reason: why.
    ///   - job: the job that ended with it. Its clients use the worker until the next one has started: leaving costs them that, and
    ///     not the others.
    mutating func workerEnded(
        _ slot: Int, _ reason: WorkerPool.RestartReason?, with job: RenderJob? = nil
    ) {
        if let job {
            forgetRun(of: job)
            slots[slot].lastJob = job.id
        }
        slots[slot].pid = nil
        slots[slot].phase = .down
        if let reason { restarts[reason, default: 0] += 1 }
        wakeForWaiting()
    }

    /// Decides what a slot with a worker does next.
    mutating func next(for slot: Int, at now: ContinuousClock.Instant) -> Next {
        guard !isStopping else { return .stop }
        let next = waiting.takeNext(at: now, admitsExpensive: mayRunExpensive) ?? takeBackground(for: slot)
        guard let job = next else {
            slots[slot].phase = .idle
            return .sleep
        }
        slots[slot].phase = .busy
        running[job.id] = slot
        // Expensive jobs may have had to wait while others ran.
        if mayRunExpensive { wakeForWaiting() }
        return .job(job)
    }

    /// Records that a job has ended.
    mutating func jobEnded(_ job: RenderJob, at now: ContinuousClock.Instant) {
        forgetRun(of: job)
        waiting.end(job.id, at: now)
    }

    private mutating func forgetRun(of job: RenderJob) {
        guard let slot = running.removeValue(forKey: job.id) else { return }
        expensive.remove(slot)
        if background.running == job.id { background.running = nil }
    }

    // MARK: - Expensive jobs

    /// Whether one more expensive job may run: all workers but one may, so that others wait for a short one.
    private var mayRunExpensive: Bool { slots.count == 1 || expensive.count < slots.count - 1 }

    /// Whether a worker continues with a job of so much work; otherwise the job is to be postponed.
    mutating func admits(work: Int, on slot: Int) -> Bool {
        guard work > Self.expensiveWork, slots.count > 1, !expensive.contains(slot) else { return true }
        guard mayRunExpensive else { return false }
        expensive.insert(slot)
        return true
    }

    /// Grants a worker's job its memory, or lets it wait to be woken.
    mutating func grant(_ bytes: Int, to slot: Int, for job: RenderJob) -> Bool {
        let isGranted = memory.grant(bytes, to: slot, for: job.waiters.current.clients)
        if isGranted {
            // What is left may be enough for the next one.
            wake(memory.next)
        } else if !job.waiters.isBackground {
            endBackground()
        }
        return isGranted
    }

    /// Releases the memory that a worker's job had, or waited for.
    mutating func releaseMemory(of slot: Int) {
        wake(memory.release(slot))
    }

    /// Returns a job to the front, because its worker exited before it began; or an expensive one, until another
    /// such job has ended.
    /// - Parameter deadline: when an expensive job fails.
    mutating func giveBack(
        _ job: RenderJob, isExpensive: Bool = false, until deadline: ContinuousClock.Instant? = nil,
        at now: ContinuousClock.Instant
    ) {
        let isUnwanted = isStopping || cancelled.remove(job.id) != nil || job.waiters.isBackground
        let isLate = deadline.map { now >= $0 } ?? false
        guard !isUnwanted, !isLate else {
            jobEnded(job, at: now)
            return fail(job, isUnwanted ? .cancelled : .queueTimedOut)
        }
        forgetRun(of: job)
        waiting.putBack(job, id: job.id, for: job.waiters, isExpensive: isExpensive, at: now)
        wakeForWaiting()
    }

    /// Whether the caller of a running job has cancelled it.
    func isCancelled(_ job: RenderJob) -> Bool { cancelled.contains(job.id) }

    // MARK: - Start and stop

    /// Stores a caller that waits until so many workers are ready.
    mutating func awaitStart(
        of count: Int, _ continuation: CheckedContinuation<Result<Void, RenderError>, Never>
    ) {
        starting = (count, continuation)
        reportStart()
    }

    private mutating func reportStart() {
        guard let (count, continuation) = starting else { return }
        if let startFailure {
            effect.started = (continuation, .failure(startFailure))
        } else if slots.count(where: { $0.phase != .down }) >= count {
            effect.started = (continuation, .success(()))
        } else {
            return
        }
        starting = nil
    }

    /// Records a slot's thread and its alert.
    mutating func threadStarted(_ slot: Int, _ alert: Alert) {
        slots[slot].alert = alert
        slots[slot].hasThread = true
    }

    /// Records that a slot's thread has ended.
    mutating func threadEnded(_ slot: Int) {
        slots[slot].hasThread = false
        answerPings(slot)
        reportStop()
    }

    private mutating func reportStop() {
        guard !slots.contains(where: \.hasThread) else { return }
        effect.resumptions += stopping
        stopping = []
    }

    /// Ends waiting jobs and wakes all threads, so that they end running ones.
    mutating func stop(_ continuation: CheckedContinuation<Void, Never>) {
        isStopping = true
        effect.alerts += slots.compactMap(\.alert)
        for job in waiting.removeAll() { fail(job, .cancelled) }
        if let job = background.waiting { fail(job, .cancelled) }
        background.waiting = nil
        stopping.append(continuation)
        reportStop()
    }

    /// Pings every thread.
    mutating func ping(_ continuation: CheckedContinuation<Void, Never>) {
        let open = Set(slots.indices.filter { slots[$0].hasThread })
        guard !open.isEmpty else { return effect.resumptions.append(continuation) }
        pings.append(Ping(open: open, continuation: continuation))
        effect.alerts += slots.compactMap(\.alert)
    }

    /// Records that a slot's thread has answered all pings so far.
    mutating func answerPings(_ slot: Int) {
        for index in pings.indices { pings[index].open.remove(slot) }
        effect.resumptions += pings.filter(\.open.isEmpty).map(\.continuation)
        pings.removeAll(where: \.open.isEmpty)
    }

    // MARK: - Numbers

    /// Whether a worker could take a job now or later.
    var isReady: Bool { !isStopping && slots.contains { $0.phase != .down } }

    /// The present numbers.
    var statistics: WorkerPool.Statistics {
        var statistics = WorkerPool.Statistics()
        statistics.idle = slots.count { $0.phase == .idle || $0.phase == .waking }
        statistics.busy = slots.count { $0.phase == .busy }
        statistics.starting = slots.count { $0.phase == .down }
        (statistics.queueDepth, statistics.maxQueueDepth) = (waiting.count, depth)
        statistics.background = background.waiting == nil && background.running == nil ? 0 : 1
        statistics.restarts = restarts
        (statistics.memoryInUse, statistics.maxMemory) = (memory.sum, memory.total)
        statistics.processIdentifiers = slots.compactMap(\.pid)
        return statistics
    }
}
