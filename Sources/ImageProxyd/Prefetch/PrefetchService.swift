// SPDX-License-Identifier: Apache-2.0

import Dispatch
internal import Logging
import Observability
import Pipeline
import Primitives
import Request
import Synchronization

/// Runs prefetch orders beside clients' requests: a few images at a time, of low priority. Safe from any thread.
final class PrefetchService: Sendable {
    typealias Maker = @Sendable () -> PrefetchMaker

    private struct State {
        var queue: PrefetchQueue
        var history: PrefetchHistory
        var maker: Maker?
        var tasks: [Int: Task<Void, Never>] = [:]
        var topics: [String: PrefetchTopic] = [:]
        /// Wakes the service for what only time brings.
        var wakeUp: (time: Duration, task: Task<Void, Never>)?
        var isStopped = false
        /// Whether the file is to be written by what waits on `saving` already.
        var isSaving = false
        var savedAt = Duration.zero
    }

    private let state: Mutex<State>
    private let path: String
    private let slots: PrefetchSlots
    private let metrics: Metrics
    private let logger: Logger
    private let saving = DispatchQueue(label: "prefetch history")
    private let timer: any Clock<Duration>
    /// Returns the time since the start, by `timer`.
    private let elapsed: @Sendable () -> Duration

    /// How often the file gets the progress of running orders.
    private static let savingInterval = Duration.seconds(10)
    /// How often an image is tried that failed because the daemon has too much to do, and the pause before: twice as
    /// long each time.
    private static let maxTries = 5
    private static let firstPause = Duration.seconds(1)

    /// - Parameters:
    ///   - path: the file for the orders of before.
    ///   - workers: the number of workers; one of them is left to clients.
    ///   - timer: what pauses are waited by.
    init(
        configuration: PrefetchConfiguration, path: String, workers: Int, metrics: Metrics, logger: Logger,
        timer: any Clock<Duration> = ContinuousClock()
    ) {
        slots = PrefetchSlots(count: workers - 1)
        state = Mutex(
            State(
                queue: PrefetchQueue(configuration: configuration),
                history: PrefetchHistory(at: path, atMost: configuration.history)))
        self.path = path
        self.metrics = metrics
        self.logger = logger
        self.timer = timer
        elapsed = Self.stopWatch(by: timer)
    }

    private static func stopWatch<C: Clock<Duration>>(by clock: C) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }

    /// Accepts orders from now on.
    /// - Parameter maker: that of the current settings.
    func begin(_ maker: @escaping Maker) {
        state.withLock { $0.maker = maker }
    }

    /// Uses other settings from now on.
    func adopt(_ configuration: PrefetchConfiguration) {
        state.withLock { state in
            state.queue.adopt(configuration)
            state.history.bound(configuration.history)
        }
        advance()
    }

    private var now: Duration { elapsed() }
    private var seconds: Int64 { SystemTime.coarseSeconds() }

    /// Images that wait, and the bytes of the orders that wait.
    var waiting: (images: Int, bytes: Int) {
        state.withLock { ($0.queue.waitingCount, $0.queue.bytes) }
    }

    // MARK: - Orders

    /// Accepts an order.
    /// - Returns: its progress, with its token.
    func submit(_ body: PrefetchBody) throws(AdminFailure) -> PrefetchProgress {
        let plan = body.plan ?? PrefetchPlan()
        guard !body.urls.isEmpty || body.isOpen else { throw .invalidContent("'urls' has no URL") }
        guard let maker = state.withLock({ $0.isStopped ? nil : $0.maker }) else { throw .stopped }
        if let problem = maker().problem(with: plan, at: body.urls) { throw .request(problem) }
        let token = PrefetchProgress.newToken()
        // Again, since the daemon may have begun to stop: it would lose the order.
        let result = state.withLock { state -> Result<Void, PrefetchQueue.Refusal>? in
            guard !state.isStopped else { return nil }
            return Result { () throws(PrefetchQueue.Refusal) in
                try state.queue.add(body, plan, token: token, at: now, seconds: seconds)
            }
        }
        guard let result else { throw .stopped }
        if case .failure(let refusal) = result { throw .refused(refusal) }
        advance(saves: true)
        guard let progress = progress(of: token) else { throw .stopped }
        return progress
    }

    /// Adds sources to an order that waits for them.
    func append(_ body: PrefetchBody, to token: String) throws(AdminFailure) -> PrefetchProgress {
        guard body.plan == nil else {
            throw .invalidContent(
                "only 'urls' and 'more' can be added to an order: the rest was said with the first of it")
        }
        let result = state.withLock { state -> Result<Void, PrefetchQueue.Refusal> in
            Result { () throws(PrefetchQueue.Refusal) in
                try state.queue.append(body, to: token, at: now)
            }
        }
        if case .failure(let refusal) = result {
            guard refusal == .closed, progress(of: token) == nil else { throw .refused(refusal) }
            throw .unknownOrder
        }
        advance()
        guard let progress = progress(of: token) else { throw .unknownOrder }
        return progress
    }

    /// Ends an order; images of it that are being made are given up.
    func cancel(_ token: String) throws(AdminFailure) -> PrefetchProgress {
        let (ended, tasks) = state.withLock { state -> (PrefetchProgress?, [Task<Void, Never>]) in
            let tasks = state.queue.running(of: token).compactMap { state.tasks[$0] }
            guard let progress = state.queue.remove(token, as: .cancelled, seconds: seconds) else {
                return (state.history.progress(of: token), [])
            }
            finish([progress], &state)
            return (progress, tasks)
        }
        for task in tasks { task.cancel() }
        guard let ended else { throw .unknownOrder }
        advance(saves: true)
        return ended
    }

    /// How far an order is; nil if it is not known, or no longer.
    func progress(of token: String) -> PrefetchProgress? {
        state.withLock { $0.queue.progress(of: token) ?? $0.history.progress(of: token) }
    }

    /// All orders that are known: those that wait or run, the oldest first, and those that have ended, the newest first.
    var all: (present: [PrefetchProgress], ended: [PrefetchProgress]) {
        state.withLock { ($0.queue.progresses, $0.history.ended) }
    }

    /// What readers of an order's events are sent; nil if there is no such order.
    func topic(of token: String) -> PrefetchTopic? {
        state.withLock { state in
            if let topic = state.topics[token] { return topic }
            guard state.queue.progress(of: token) != nil || state.history.progress(of: token) != nil else {
                return nil
            }
            let topic = PrefetchTopic(service: self, token: token)
            // One for all readers; one that has ended is sent once to each.
            if state.queue.progress(of: token) != nil { state.topics[token] = topic }
            return topic
        }
    }

    // MARK: - Running

    /// Begins what may begin, and ends what has ended.
    private func advance(saves: Bool = false) {
        let (now, seconds) = (now, seconds)
        let (startsSaving, oldWakeUp) = state.withLock { state -> (Bool, Task<Void, Never>?) in
            guard !state.isStopped, let maker = state.maker else { return (false, nil) }
            let ended = state.queue.takeEnded(at: now, seconds: seconds)
            finish(ended, &state)
            while let job = state.queue.next(at: now, seconds: seconds) {
                state.tasks[job.id] = Task(priority: .utility) { await self.run(job, maker) }
            }
            let old = setWakeUp(&state, now)
            let isDue = now - state.savedAt >= Self.savingInterval && !state.tasks.isEmpty
            guard saves || !ended.isEmpty || isDue, !state.isSaving else { return (false, old) }
            (state.isSaving, state.savedAt) = (true, now)
            return (true, old)
        }
        oldWakeUp?.cancel()
        if startsSaving { saving.async { self.save() } }
    }

    private func finish(_ ended: [PrefetchProgress], _ state: inout State) {
        for progress in ended {
            state.history.add(progress, atMost: state.queue.configuration.history)
            state.topics[progress.token] = nil
        }
    }

    /// Has `advance` called when time brings something to do.
    /// - Returns: the wake-up that this one replaces.
    private func setWakeUp(_ state: inout State, _ now: Duration) -> Task<Void, Never>? {
        let time = state.queue.nextTime(after: now)
        guard time != state.wakeUp?.time else { return nil }
        let old = state.wakeUp?.task
        state.wakeUp = time.map { time in
            let task = Task {
                // Ignored: that it was replaced.
                guard (try? await self.timer.sleep(for: max(.zero, time - now))) != nil else { return }
                self.state.withLock { if $0.wakeUp?.time == time { $0.wakeUp = nil } }
                self.advance()
            }
            return (time, task)
        }
        return old
    }

    private func run(_ job: PrefetchQueue.Job, _ maker: @escaping Maker) async {
        let maker = maker()
        var source = SourcePrefetch(maker.pipeline, slots, timer: timer)
        for variant in job.plan.variants {
            guard !Task.isCancelled else { break }
            await make(variant, of: job, maker, &source)
        }
        state.withLock { state in
            state.tasks[job.id] = nil
            state.queue.end(job)
        }
        advance()
    }

    private func make(
        _ variant: PrefetchPlan.Variant, of job: PrefetchQueue.Job, _ maker: PrefetchMaker,
        _ source: inout SourcePrefetch
    ) async {
        let request: ImageRequest
        do throws(ImageRequestError) {
            request = try maker.request(for: job.url, variant)
        } catch {
            return record(job, .failed(PipelineError(error)))
        }
        var pause = Self.firstPause
        for attempt in 1...Self.maxTries {
            let outcome = await source.image(for: request)
            guard !Task.isCancelled else { return metrics.prefetches.increment(.cancelled) }
            guard attempt < Self.maxTries, case .failed(let error) = outcome, error.isTemporary else {
                return record(job, outcome)
            }
            // Ignored: that it was cancelled; the next try ends at once then.
            try? await timer.sleep(for: pause)
            pause *= 2
        }
    }

    private func record(_ job: PrefetchQueue.Job, _ outcome: SourcePrefetch.Outcome) {
        switch outcome {
        case .made(let bytes):
            metrics.prefetches.increment(.made)
            metrics.prefetchBytes.add(bytes, NoLabels())
            change(job) { ($0.finished, $0.bytes) = ($0.finished + 1, $0.bytes + bytes) }
        case .stored:
            metrics.prefetches.increment(.skipped)
            change(job) { $0.skipped += 1 }
        case .unstorable:
            metrics.prefetches.increment(.failed)
            change(job) {
                $0.fail("not_stored", "The image may not be stored, or no tier could store it", at: job.url)
            }
        case .failed(let error):
            metrics.prefetches.increment(.failed)
            let title = error.detail.map { "\(error.row.title): \($0)" } ?? error.row.title
            change(job) { $0.fail(error.row.code, title, at: job.url) }
        }
    }

    private func change(_ job: PrefetchQueue.Job, _ change: (inout PrefetchProgress) -> Void) {
        state.withLock { $0.queue.record(job, change) }
    }

    // MARK: - The file, and the end

    /// Writes the file; runs on `saving` alone.
    private func save() {
        let (present, ended) = state.withLock { state in
            state.isSaving = false
            return (state.queue.progresses, state.history.ended)
        }
        let code = FileIO.replace(path, by: PrefetchHistory.content(running: present, ended: ended))
        guard code != 0 else { return }
        logger.warning(
            "the history of prefetch orders could not be written to \(path): \(systemErrorText(code))")
    }

    /// Gives up all orders, and writes down how far they were.
    func stop() async {
        let tasks = state.withLock { state in
            state.isStopped = true
            let ended = state.queue.progresses.compactMap {
                state.queue.remove($0.token, as: .interrupted, seconds: seconds)
            }
            finish(ended, &state)
            state.wakeUp?.task.cancel()
            state.wakeUp = nil
            state.isSaving = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        await withCheckedContinuation { continuation in
            saving.async {
                self.save()
                continuation.resume()
            }
        }
    }
}
