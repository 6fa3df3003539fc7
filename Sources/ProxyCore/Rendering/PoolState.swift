// SPDX-License-Identifier: Apache-2.0

import Imaging

/// The pool's decisions about jobs and workers, without threads or processes.
///
/// Every change is made under the pool's lock and returns an effect to be performed outside it.
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

    /// The work of a job, in weighted megapixels (`WorkEstimate`), beyond which it is expensive: some 2 s.
    private static let expensiveWork = 80

    /// The state of one worker.
    struct Slot {
        /// Wakes its thread; nil until the thread is created.
        var alert: Alert?
        var phase = Phase.down
        var pid: Int32?
        /// Whether its thread runs.
        var hasThread = false

        /// The phases of a worker.
        enum Phase {
            /// There is no process, or none that is ready.
            case down
            /// It waits for a job.
            case idle
            /// It has been woken for a waiting job.
            case waking
            /// It has a job.
            case busy
        }
    }

    private struct Ping {
        var open: Set<Int>
        let continuation: CheckedContinuation<Void, Never>
    }

    /// What a worker's thread does next.
    enum Next {
        case job(RenderJob)
        case sleep
        case stop
    }

    /// The effects of a change, performed outside the lock.
    struct Effect {
        var alerts: [Alert] = []
        var failures: [(job: RenderJob, error: RenderError)] = []
        var resumptions: [CheckedContinuation<Void, Never>] = []
        var started: (CheckedContinuation<Result<Void, RenderError>, Never>, Result<Void, RenderError>)?
        /// Whether the submitted job waits now.
        var isWaiting = false

        /// Wakes threads, answers pings and resumes callers.
        func perform() {
            for alert in alerts { alert.raise() }
            for failure in failures { failure.job.fail(failure.error) }
            for continuation in resumptions { continuation.resume() }
            if let (continuation, result) = started { continuation.resume(returning: result) }
        }
    }

    /// Starts with all workers down.
    init(workers: Int, depth: Int, memory: Int) {
        self.memory = MemoryBudget(total: memory)
        slots = Array(repeating: Slot(), count: workers)
        self.depth = depth
    }

    /// Changes the maximum number of waiting jobs; those beyond it stay.
    mutating func resize(depth: Int) { self.depth = depth }

    // MARK: - Callers

    /// Issues the next job's number.
    mutating func newID() -> Int {
        lastID += 1
        return lastID
    }

    /// Queues a job and wakes an idle worker.
    mutating func submit(_ job: RenderJob) -> Effect {
        if cancelled.remove(job.id) != nil { return Effect(failures: [(job, .cancelled)]) }
        guard !isStopping else { return Effect(failures: [(job, .unavailable("the pool is stopped"))]) }
        guard !job.interest.isBackground else { return submitBackground(job) }
        if let idle = slots.firstIndex(where: { $0.phase == .idle }), let alert = slots[idle].alert {
            slots[idle].phase = .waking
            queue(job)
            return Effect(alerts: [alert], isWaiting: true)
        }
        // Jobs whose worker is waking do not count: it takes them in a moment.
        let waking = slots.count { $0.phase == .waking }
        guard waiting.count >= depth + waking else {
            queue(job)
            return Effect(alerts: endBackground(), isWaiting: true)
        }
        guard let displaced = waiting.displace(for: job.interest) else {
            return Effect(failures: [(job, .queueFull)])
        }
        queue(job)
        return Effect(alerts: endBackground(), failures: [(displaced, .queueFull)], isWaiting: true)
    }

    // MARK: - Work in the background

    /// Queues a job until a worker has nothing else to do, and another one as well: without a bound in time.
    private mutating func submitBackground(_ job: RenderJob) -> Effect {
        guard background.waiting == nil, background.running == nil else {
            return Effect(failures: [(job, .queueFull)])
        }
        background.waiting = job
        guard waiting.isEmpty, let idle = slots.firstIndex(where: { $0.phase == .idle }),
            hasIdle(besides: idle), let alert = slots[idle].alert
        else { return Effect() }
        slots[idle].phase = .waking
        return Effect(alerts: [alert])
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

    /// Ends the background job that runs, because a client's waits; returns the alerts to raise for that.
    private mutating func endBackground() -> [Alert] {
        guard let id = background.running, let slot = running[id], let alert = slots[slot].alert,
            cancelled.insert(id).inserted
        else { return [] }
        return [alert]
    }

    private mutating func queue(_ job: RenderJob) {
        waiting.append(job, id: job.id, for: job.interest)
    }

    /// Ends a waiting job, has the worker of a running one killed, and remembers one that is still to come.
    mutating func cancel(_ id: Int) -> Effect {
        if let job = waiting.remove(id) { return Effect(failures: [(job, .cancelled)]) }
        if let job = background.waiting, job.id == id {
            background.waiting = nil
            return Effect(failures: [(job, .cancelled)])
        }
        cancelled.insert(id)
        guard let slot = running[id], let alert = slots[slot].alert else { return Effect() }
        return Effect(alerts: [alert])
    }

    /// Drops a cancellation that came too late for its job.
    mutating func forget(_ id: Int) {
        cancelled.remove(id)
    }

    /// Ends a job that still waits at its deadline.
    mutating func expire(_ id: Int) -> Effect {
        guard let job = waiting.remove(id) else { return Effect() }
        return Effect(failures: [(job, .queueTimedOut)])
    }

    // MARK: - Threads

    /// Records that a slot's worker has warmed up, and whether it has a job already.
    mutating func workerStarted(_ slot: Int, pid: Int32, isBusy: Bool = false) -> Effect {
        slots[slot].pid = pid
        slots[slot].phase = isBusy ? .busy : .idle
        return startProgress()
    }

    /// Records a worker's sandbox.
    mutating func noteSandbox(_ report: SandboxReport) {
        sandbox = report
    }

    /// Records that a slot's worker did not start.
    mutating func workerFailed(_ slot: Int, _ error: RenderError) -> Effect {
        restarts[.start, default: 0] += 1
        startFailure = error
        return startProgress()
    }

    /// Records that a slot's worker has exited; without a reason since the pool stops.
    mutating func workerEnded(_ slot: Int, _ reason: WorkerPool.RestartReason?) {
        slots[slot].pid = nil
        slots[slot].phase = .down
        if let reason { restarts[reason, default: 0] += 1 }
    }

    /// Decides what a slot with a worker does next.
    mutating func next(for slot: Int, at now: ContinuousClock.Instant) -> (Next, Effect) {
        guard !isStopping else { return (.stop, Effect()) }
        let next = waiting.takeNext(at: now, admitsExpensive: mayRunExpensive) ?? takeBackground(for: slot)
        guard let job = next else {
            slots[slot].phase = .idle
            return (.sleep, Effect())
        }
        slots[slot].phase = .busy
        running[job.id] = slot
        return (.job(job), wakeForExpensive())
    }

    /// Wakes an idle worker for an expensive job that had to wait while others ran.
    private mutating func wakeForExpensive() -> Effect {
        guard mayRunExpensive, !waiting.isEmpty, let idle = slots.firstIndex(where: { $0.phase == .idle }),
            let alert = slots[idle].alert
        else { return Effect() }
        slots[idle].phase = .waking
        return Effect(alerts: [alert])
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

    /// Queues an expensive job until another one has ended.
    /// - Parameter deadline: when it fails.
    mutating func postpone(
        _ job: RenderJob, until deadline: ContinuousClock.Instant, at now: ContinuousClock.Instant
    ) -> Effect {
        guard !isStopping, cancelled.remove(job.id) == nil, !job.interest.isBackground else {
            jobEnded(job, at: now)
            return Effect(failures: [(job, .cancelled)])
        }
        guard now < deadline else {
            jobEnded(job, at: now)
            return Effect(failures: [(job, .queueTimedOut)])
        }
        forgetRun(of: job)
        waiting.putBack(job, id: job.id, for: job.interest, isExpensive: true)
        return Effect()
    }

    /// Grants a worker's job its memory, or lets it wait to be woken.
    mutating func grant(_ bytes: Int, to slot: Int, for job: RenderJob) -> (Bool, Effect) {
        let isGranted = memory.grant(bytes, to: slot, for: job.interest.waiters.clients)
        // What is left may be enough for the next one.
        guard !isGranted else { return (true, wake(memory.next)) }
        return (false, job.interest.isBackground ? Effect() : Effect(alerts: endBackground()))
    }

    /// Releases the memory that a worker's job had, or waited for.
    mutating func releaseMemory(of slot: Int) -> Effect {
        wake(memory.release(slot))
    }

    private func wake(_ slot: Int?) -> Effect {
        guard let slot, let alert = slots[slot].alert else { return Effect() }
        return Effect(alerts: [alert])
    }

    /// Returns a job to the front, because its worker exited before it began.
    mutating func giveBack(_ job: RenderJob, at now: ContinuousClock.Instant) -> Effect {
        guard !isStopping, cancelled.remove(job.id) == nil, !job.interest.isBackground else {
            jobEnded(job, at: now)
            return Effect(failures: [(job, .cancelled)])
        }
        forgetRun(of: job)
        waiting.putBack(job, id: job.id, for: job.interest)
        return Effect()
    }

    /// Whether the caller of a running job has cancelled it.
    func isCancelled(_ job: RenderJob) -> Bool { cancelled.contains(job.id) }

    // MARK: - Start and stop

    /// Stores a caller that waits until so many workers are ready.
    mutating func awaitStart(
        of count: Int, _ continuation: CheckedContinuation<Result<Void, RenderError>, Never>
    ) -> Effect {
        starting = (count, continuation)
        return startProgress()
    }

    private mutating func startProgress() -> Effect {
        guard let (count, continuation) = starting else { return Effect() }
        if let startFailure {
            starting = nil
            return Effect(started: (continuation, .failure(startFailure)))
        }
        guard slots.count(where: { $0.phase != .down }) >= count else { return Effect() }
        starting = nil
        return Effect(started: (continuation, .success(())))
    }

    /// Records a slot's thread and its alert.
    mutating func threadStarted(_ slot: Int, _ alert: Alert) {
        slots[slot].alert = alert
        slots[slot].hasThread = true
    }

    /// Records that a slot's thread has ended.
    mutating func threadEnded(_ slot: Int) -> Effect {
        slots[slot].hasThread = false
        var effect = answerPings(slot)
        guard slots.allSatisfy({ !$0.hasThread }) else { return effect }
        effect.resumptions += stopping
        stopping = []
        return effect
    }

    /// Ends waiting jobs and wakes all threads, so that they end running ones.
    mutating func stop(_ continuation: CheckedContinuation<Void, Never>) -> Effect {
        isStopping = true
        var effect = Effect(alerts: slots.compactMap(\.alert))
        effect.failures = waiting.removeAll().map { ($0, .cancelled) }
        if let job = background.waiting { effect.failures.append((job, .cancelled)) }
        background.waiting = nil
        guard slots.contains(where: \.hasThread) else {
            effect.resumptions = [continuation]
            return effect
        }
        stopping.append(continuation)
        return effect
    }

    /// Pings every thread.
    mutating func ping(_ continuation: CheckedContinuation<Void, Never>) -> Effect {
        let open = Set(slots.indices.filter { slots[$0].hasThread })
        guard !open.isEmpty else { return Effect(resumptions: [continuation]) }
        pings.append(Ping(open: open, continuation: continuation))
        return Effect(alerts: slots.compactMap(\.alert))
    }

    mutating func answerPings(_ slot: Int) -> Effect {
        for index in pings.indices { pings[index].open.remove(slot) }
        let answered = pings.filter(\.open.isEmpty).map(\.continuation)
        pings.removeAll(where: \.open.isEmpty)
        return Effect(resumptions: answered)
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
