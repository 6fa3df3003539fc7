// SPDX-License-Identifier: Apache-2.0

package import Bodies
import Dispatch
package import Imaging
package import Primitives
import Synchronization

/// Renders in spawned worker processes: a picture that crashes its decoder costs one answer and one process.
///
/// One thread per worker starts it, passes it one job at a time, kills it at the deadline and starts the next
/// one; jobs wait in one bounded queue, in which clients take turns. Only the calls run on Swift's
/// cooperative pool.
package final class WorkerPool: ImageRendering {
    private let settings: Mutex<TransformConfiguration>
    private let executable: String
    private let state: Mutex<PoolState>
    /// The time by which jobs and workers take too long.
    let clock: PoolClock
    private let patience: Duration

    /// Creates a pool; nothing is started yet.
    ///
    /// - Parameters:
    ///   - configuration: numbers and bounds; `isolation` is ignored.
    ///   - executable: the binary to spawn with the argument `worker`, usually `/proc/self/exe`.
    ///   - clock: the system's by default.
    ///   - patience: how long the smallest job may compute before it counts as much work.
    package init(
        configuration: TransformConfiguration, executable: String, clock: PoolClock = PoolClock(),
        patience: Duration = .seconds(1)
    ) {
        self.clock = clock
        self.patience = patience
        settings = Mutex(configuration)
        self.executable = executable
        let workers = configuration.workerCount
        state = Mutex(
            PoolState(
                workers: workers, depth: configuration.depth(workers: workers),
                memory: Self.budget(configuration, workers: workers)))
    }

    /// The settings of the next job.
    var configuration: TransformConfiguration { settings.withLock { $0 } }

    /// Changes the bounds and times of later jobs.
    ///
    /// `workers`, `niceness`, `sandbox`, `memoryPerWorker` and `memoryBudget` must be those of the start,
    /// with which the workers run.
    package func adopt(_ configuration: TransformConfiguration) {
        settings.withLock { $0 = configuration }
        state.withLock { $0.resize(depth: configuration.depth(workers: $0.slots.count)) }
    }

    private static func budget(_ configuration: TransformConfiguration, workers: Int) -> Int {
        let budget = configuration.memoryBudget.bytes
        if budget > 0 { return budget }
        return configuration.memoryPerWorker.bytes > 0 ? workers * configuration.memoryPerWorker.bytes : .max
    }

    // MARK: - Start and stop

    /// Starts the workers and returns when all of them have warmed up.
    ///
    /// - Throws: `unavailable` with the reason if a worker does not start; the pool is then stopped.
    package func start() async throws(RenderError) {
        let threads = try makeThreads()
        threads.forEach(run)
        try await started(threads.count)
    }

    /// Starts one worker and returns when it has warmed up; the others start from then on, without waiting.
    ///
    /// Side by side they would all be ready later than the first alone, since warming up is work for a
    /// processor.
    /// - Throws: `unavailable` with the reason if the first does not start; the pool is then stopped.
    package func startFirst() async throws(RenderError) {
        let threads = try makeThreads()
        threads.prefix(1).forEach(run)
        try await started(1)
        threads.dropFirst().forEach(run)
    }

    private func makeThreads() throws(RenderError) -> [WorkerThread] {
        var threads: [WorkerThread] = []
        for index in 0..<state.withLock({ $0.slots.count }) {
            threads.append(
                try WorkerThread(index: index, executable: executable, pool: self))
        }
        return threads
    }

    private func run(_ thread: WorkerThread) {
        state.withLock { $0.threadStarted(thread.index, thread.alert) }
        DispatchQueue(label: "imageproxyd.worker.\(thread.index)").async { thread.run() }
    }

    /// Returns when so many workers are ready.
    private func started(_ count: Int) async throws(RenderError) {
        let result: Result<Void, RenderError> = await withCheckedContinuation { continuation in
            update { $0.awaitStart(of: count, continuation) }
        }
        guard case .failure(let error) = result else { return }
        await stop()
        throw error
    }

    /// Refuses new jobs, ends waiting and running ones as cancelled, and returns when all workers have
    /// exited.
    package func stop() async {
        await withCheckedContinuation { continuation in
            update { $0.stop(continuation) }
        }
    }

    /// Returns when each worker's thread has answered, for the watchdog.
    ///
    /// Threads answer while their workers are busy, too.
    package func ping() async {
        await withCheckedContinuation { continuation in
            update { $0.ping(continuation) }
        }
    }

    /// Whether a worker could take a job now or after its present one.
    package var isReady: Bool { state.withLock { $0.isReady } }

    /// The workers' sandbox; nil before the first has started.
    package var sandbox: SandboxReport? { state.withLock { $0.sandbox } }

    /// The state of the pool, and the number of replaced workers.
    package var statistics: Statistics { state.withLock { $0.statistics } }

    // MARK: - Jobs

    /// Queues the job and returns when it is done; see `ImageRendering`.
    package func render(
        _ plan: RenderPlan, from source: StoredBody, into destination: OwnedDescriptor, at offset: Int64,
        intermediateTarget: FilePlace?, for waiters: Waiters
    ) async throws(RenderError) -> Rendition {
        let id = state.withLock { $0.newID() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                var job = RenderJob(
                    id: id, plan: plan, source: source, destination: destination, offset: offset,
                    intermediateTarget: intermediateTarget,
                    enqueued: clock.now(), queueTimeout: configuration.queueTimeout.duration,
                    waiters: waiters, continuation: continuation)
                // A job that no client waits for does not get a second worker.
                job.isRetried = waiters.isBackground
                enqueue(job)
            }
        } onCancel: {
            update { $0.cancel(id) }
        }
        state.withLock { $0.forget(id) }
        return try result.get()
    }

    private func enqueue(_ job: RenderJob) {
        guard update({ $0.submit(job) }) else { return }
        expire(job.id, enqueued: job.enqueued, job.waiters)
    }

    /// Ends a job at its deadline if it still waits then; without the job itself, which may end before.
    private func expire(_ id: Int, enqueued: ContinuousClock.Instant, _ waiters: Waiters) {
        let timeout = configuration.queueTimeout.duration
        let left = RenderJob.deadline(enqueued: enqueued, waiters, timeout: timeout) - clock.now()
        guard left > .zero else { return update { $0.expire(id) } }
        clock.schedule(max(left, .milliseconds(1))) { [weak self] in
            self?.expire(id, enqueued: enqueued, waiters)
        }
    }

    // MARK: - For the workers' threads

    /// How long a job may compute before it counts as much work, whatever its header promised: a second, and a tenth for each
    /// megapixel of `WorkEstimate`, of which a usual one takes 25 ms.
    func patience(for work: Int) -> Duration { patience + patience / 10 * min(work, 10_000) }

    /// Queues a job of much work until another one like it has ended: one worker is left to the others.
    func postpone(_ job: RenderJob) { giveBack(job, isExpensive: true) }

    /// Queues a job again that a worker has not begun.
    func giveBack(_ job: RenderJob, isExpensive: Bool = false) {
        update { $0.giveBack(job, isExpensive: isExpensive, until: job.deadline, at: clock.now()) }
        // The job may have been running when its time was up, and been joined then.
        expire(job.id, enqueued: job.enqueued, job.waiters)
    }

    /// Changes the pool's state and then performs the effects, outside the lock.
    func update<Value: Sendable>(_ change: (inout PoolState) -> Value) -> Value {
        let (value, effect) = state.withLock { (change(&$0), $0.takeEffect()) }
        effect.perform()
        return value
    }
}
