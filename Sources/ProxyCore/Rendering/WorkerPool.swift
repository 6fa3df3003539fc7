// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// Renders in spawned worker processes: a picture that harms its decoder costs one answer and one process.
///
/// A thread a worker starts it, hands it one job at a time, kills it at the deadline and starts the next one; jobs
/// wait in one bounded queue, in which clients take turns. Nothing here runs on Swift's cooperative pool but the calls.
public final class WorkerPool: ImageRendering {
    private let settings: Mutex<TransformConfiguration>
    private let executable: String
    private let state: Mutex<PoolState>
    /// Runs what ends a wait that has lasted too long.
    private let timers = DispatchQueue(label: "imageproxyd.worker.timers")

    /// Prepares a pool; nothing is started yet.
    ///
    /// - Parameters:
    ///   - configuration: numbers and bounds; `isolation` is not looked at.
    ///   - executable: the binary to spawn with the argument `worker`, usually `/proc/self/exe`.
    public init(configuration: TransformConfiguration, executable: String) {
        settings = Mutex(configuration)
        self.executable = executable
        let workers = configuration.workers > 0 ? configuration.workers : Self.coreCount
        state = Mutex(
            PoolState(
                workers: workers, depth: Self.depth(configuration, workers: workers),
                memory: Self.budget(configuration, workers: workers)))
    }

    /// The settings that the next job goes by.
    var configuration: TransformConfiguration { settings.withLock { $0 } }

    /// Has jobs go by other bounds and times from now on.
    ///
    /// `workers`, `niceness`, `sandbox`, `memoryPerWorker` and `memoryBudget` have to be those of the start, by which the
    /// workers run.
    public func adopt(_ configuration: TransformConfiguration) {
        settings.withLock { $0 = configuration }
        state.withLock { $0.resize(depth: Self.depth(configuration, workers: $0.slots.count)) }
    }

    private static func depth(_ configuration: TransformConfiguration, workers: Int) -> Int {
        configuration.queue > 0 ? configuration.queue : defaultDepth(workers: workers)
    }

    /// How many jobs may wait by default: each holds at most 64 KiB of a source in memory, the rest is in files.
    public static func defaultDepth(workers: Int) -> Int { max(leastDepth, workers * waitingPerWorker) }

    private static let leastDepth = 1_024
    private static let waitingPerWorker = 32

    private static func budget(_ configuration: TransformConfiguration, workers: Int) -> Int {
        let budget = configuration.memoryBudget.bytes
        if budget > 0 { return budget }
        return configuration.memoryPerWorker.bytes > 0 ? workers * configuration.memoryPerWorker.bytes : .max
    }

    // MARK: - Life

    /// Starts the workers and returns when all of them have warmed up.
    ///
    /// - Throws: `unavailable` with the reason when a worker does not start; the pool is then stopped.
    public func start() async throws(RenderError) {
        let threads = try makeThreads()
        threads.forEach(run)
        try await started(threads.count)
    }

    /// Starts one worker and returns when it has warmed up; the others start from then on, and nobody waits for them.
    ///
    /// Side by side they would all be ready later than the first alone: warming up is work for a processor.
    /// - Throws: `unavailable` with the reason when the first does not start; the pool is then stopped.
    public func startFirst() async throws(RenderError) {
        let threads = try makeThreads()
        threads.prefix(1).forEach(run)
        try await started(1)
        threads.dropFirst().forEach(run)
    }

    private func makeThreads() throws(RenderError) -> [WorkerSlot] {
        var threads: [WorkerSlot] = []
        for index in 0..<state.withLock({ $0.slots.count }) {
            threads.append(
                try WorkerSlot(index: index, executable: executable, pool: self))
        }
        return threads
    }

    private func run(_ thread: WorkerSlot) {
        state.withLock { $0.threadStarted(thread.index, thread.alert) }
        DispatchQueue(label: "imageproxyd.worker.\(thread.index)").async { thread.run() }
    }

    /// Returns when so many workers are ready.
    private func started(_ count: Int) async throws(RenderError) {
        let result: Result<Void, RenderError> = await withCheckedContinuation { continuation in
            state.withLock { $0.awaitStart(of: count, continuation) }.perform()
        }
        guard case .failure(let error) = result else { return }
        await stop()
        throw error
    }

    /// Refuses new jobs, ends those that wait or run as cancelled, and returns when all workers are gone.
    public func stop() async {
        await withCheckedContinuation { continuation in
            state.withLock { $0.stop(continuation) }.perform()
        }
    }

    /// Returns when each worker's thread has answered: what a watchdog wants to know.
    ///
    /// Threads answer while their workers are busy, too.
    public func ping() async {
        await withCheckedContinuation { continuation in
            state.withLock { $0.ping(continuation) }.perform()
        }
    }

    /// Whether a worker could take a job now or after its present one.
    public var isReady: Bool { state.withLock { $0.isReady } }

    /// How the workers are sealed; nil before the first has started.
    public var sandbox: SandboxReport? { state.withLock { $0.sandbox } }

    /// What the pool is doing, and what has happened to its workers.
    public var statistics: Statistics { state.withLock { $0.statistics } }

    // MARK: - Jobs

    /// Queues the job and returns when it is done; see `Rendering`.
    public func render(
        _ plan: RenderPlan, from source: StoredBody, into destination: OwnedDescriptor, at offset: Int64,
        beside: SecondOutput?
    ) async throws(RenderError) -> Rendition {
        let id = state.withLock { $0.newID() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                var job = RenderJob(
                    id: id, plan: plan, source: source, destination: destination, offset: offset,
                    beside: beside,
                    enqueued: .now, interest: .current ?? RenderInterest(), continuation: continuation)
                // What no client waits for is not worth a second worker.
                job.isRetried = job.interest.isBackground
                enqueue(job)
            }
        } onCancel: {
            state.withLock { $0.cancel(id) }.perform()
        }
        state.withLock { $0.forget(id) }
        return try result.get()
    }

    private func enqueue(_ job: RenderJob) {
        let effect = state.withLock { $0.submit(job) }
        effect.perform()
        guard effect.isWaiting else { return }
        let id = job.id
        timers.asyncAfter(deadline: .now() + .milliseconds(configuration.queueTimeout.milliseconds)) {
            [weak self] in
            self?.state.withLock { $0.expire(id) }.perform()
        }
    }

    // MARK: - For the workers' threads

    /// Changes the pool's state and then does what follows from it, outside the lock.
    func update<Value: Sendable>(_ change: (inout PoolState) -> (Value, PoolState.Effect)) -> Value {
        let (value, effect) = state.withLock { change(&$0) }
        effect.perform()
        return value
    }
}
