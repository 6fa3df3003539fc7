// SPDX-License-Identifier: Apache-2.0

import Bodies
import CLinux
import Glibc
import Imaging
import Primitives

/// One worker's thread: starts the process, sends it jobs, kills it at a deadline, and starts the next.
final class WorkerThread: Sendable {
    /// Wakes the thread: for a job, a cancellation, a ping, the stop.
    let alert: Alert
    /// The index of the worker in the pool.
    let index: Int
    private let executable: String
    let pool: WorkerPool

    /// The maximum time from spawning a worker to its first message.
    private static let startTimeout = Duration.seconds(30)
    /// The first pause after a worker that did not start, in milliseconds; doubles each time.
    private static let firstPause = 100
    /// The longest such pause, in milliseconds.
    private static let longestPause = 10_000
    /// The seconds between the daemon's deadline and the worker's own alarm.
    private static let alarmGrace = 2

    /// How a worker's service ended.
    enum Ending {
        /// Its end has still to be recorded.
        case replaced(WorkerPool.RestartReason)
        /// Its end was recorded together with its last job's.
        case gone
        /// It exited before its first job: the next one may, too.
        case failedBeforeFirstJob
        /// It exited during a job that may not be at fault. The job goes to the next worker.
        case retry(RenderJob)
        case stopped
    }

    init(index: Int, executable: String, pool: WorkerPool) throws(RenderError) {
        alert = try Alert()
        self.index = index
        self.executable = executable
        self.pool = pool
    }

    var configuration: TransformConfiguration { pool.configuration }
    var now: ContinuousClock.Instant { pool.clock.now() }

    /// The thread: returns when the pool stops.
    func run() {
        var failures = 0
        var job: RenderJob?
        while !isStopping {
            do {
                let ending = try serve(first: job)
                job = nil
                if case .failedBeforeFirstJob = ending {
                    pause(after: failures)
                    failures += 1
                    continue
                }
                failures = 0
                if case .retry(let next) = ending { job = next }
                if case .stopped = ending { break }
            } catch {
                // A job that has outlived one worker waits for the next start, but not for ever.
                if let failed = job, failures >= PoolState.startsPerJob - 1 {
                    end(failed, .failure(error))
                    job = nil
                }
                pool.update { $0.workerFailed(index, error, at: now) }
                pause(after: failures)
                failures += 1
            }
        }
        if let job { end(job, .failure(.cancelled)) }
        pool.update { $0.threadEnded(index) }
    }

    private var isStopping: Bool { pool.update { $0.isStopping } }

    /// Starts a worker and serves until it must be replaced; `first` is a job during which the worker before
    /// exited.
    private func serve(first: RenderJob?) throws(RenderError) -> Ending {
        var process = try startedProcess()
        pool.update { $0.workerStarted(index, pid: process.pid, isBusy: first != nil, at: now) }
        let ending = first.flatMap { run($0, on: &process) } ?? serve(with: &process)
        switch ending {
        case .replaced(let reason): pool.update { $0.workerEnded(index, reason) }
        case .failedBeforeFirstJob: pool.update { $0.workerEnded(index, .crash) }
        case .stopped: pool.update { $0.workerEnded(index, nil) }
        case .gone, .retry: break
        }
        return ending
    }

    private func startedProcess() throws(RenderError) -> WorkerProcess {
        let settings = WorkerSettings(
            addressSpace: configuration.memoryPerWorker.bytes, niceness: configuration.niceness,
            sandbox: configuration.sandbox)
        var process = try WorkerProcess.launched(executable, settings: settings)
        let deadline = now + Self.startTimeout
        while true {
            switch process.wait(alert: alert.raw, until: deadline, by: pool.clock) {
            case .alert:
                handleAlert()
                if isStopping { throw .unavailable("stopped while a worker started") }
            case .deadline:
                throw .unavailable("a worker did not get ready in time")
            case .message:
                try noteStart(of: &process)
                return process
            }
        }
    }

    private func noteStart(of process: inout WorkerProcess) throws(RenderError) {
        let reply: WorkerProtocol.Reply
        do { reply = try process.receive() } catch {
            throw .unavailable("a worker ended while it started")
        }
        switch reply {
        case .ready(let report):
            process.startSpace = process.addressSpace()
            pool.update { $0.noteSandbox(report) }
        case .unfit(let reason): throw .unavailable("a worker can't work: \(reason)")
        default: throw .unavailable("a worker broke the protocol while it started")
        }
    }

    /// Waits before the next attempt, longer each time; the pool's stop ends the pause.
    private func pause(after failures: Int) {
        let factor = 1 << min(failures, Self.longestPause.bitWidth / 4)
        let end = now + .milliseconds(min(Self.firstPause * factor, Self.longestPause))
        while !isStopping {
            let left = end - now
            guard left > .zero else { return }
            alert.wait(milliseconds: Int(left / .milliseconds(1)) + 1)
            handleAlert()
        }
    }

    /// Lowers the alert and answers pings.
    private func handleAlert() {
        alert.lower()
        pool.update { $0.answerPings(index) }
    }

    // MARK: - Jobs

    private func serve(with process: inout WorkerProcess) -> Ending {
        while true {
            switch pool.update({ $0.next(for: index, at: now) }) {
            case .stop:
                return .stopped
            case .job(let job):
                if let ending = run(job, on: &process) { return ending }
                if process.jobs >= configuration.jobsPerWorker { return .replaced(.recycled) }
                if holdsTooMuchSpace(process) { return .replaced(.memory) }
            case .sleep:
                // An idle worker sends nothing: it has exited.
                if process.wait(alert: alert.raw, until: nil, by: pool.clock) == .message {
                    return process.jobs == 0 ? .failedBeforeFirstJob : .replaced(.crash)
                }
                handleAlert()
            }
        }
    }

    /// Whether a worker holds so much address space that the next job might lack it: libraries do not release
    /// all.
    private func holdsTooMuchSpace(_ process: borrowing WorkerProcess) -> Bool {
        let limit = configuration.memoryPerWorker.bytes
        guard limit > 0 else { return false }
        return process.addressSpace() - process.startSpace > (limit - process.startSpace) / 2
    }

    /// Runs one job to its end; returns how the worker's service ended, if it did.
    private func run(_ job: RenderJob, on process: inout WorkerProcess) -> Ending? {
        // Its client may have left while the worker was started: that alert has been lowered.
        guard !pool.update({ $0.isCancelled(job) }) else {
            end(job, .failure(.cancelled))
            return nil
        }
        let waited = job.waiters.isBackground ? .zero : now - job.enqueued
        let queued = waited.inMicroseconds
        let descriptors: JobDescriptors
        do { descriptors = try JobDescriptors(for: job) } catch {
            end(job, .failure(error))
            return nil
        }
        do {
            try process.send(order(for: job, after: waited, descriptors, process), with: descriptors.all)
        } catch .malformed {
            end(job, .failure(.systemFailure("the plan is too large for a message to a worker")))
            return nil
        } catch {
            pool.giveBack(job)
            return .replaced(.crash)
        }
        return finish(job, queued: queued, on: &process)
    }

    private func order(
        for job: RenderJob, after waited: Duration, _ descriptors: JobDescriptors,
        _ process: borrowing WorkerProcess
    ) -> RenderOrder {
        var plan = job.plan
        let cheapestAfter = configuration.cheapestAfter
        plan.takesCheapest = cheapestAfter > .seconds(0) && waited >= cheapestAfter.duration
        let space = process.addressSpace()
        // Nothing is known if /proc is not readable; the worker's own limit applies then.
        let headerSpace = space > 0 ? space + job.source.count + configuration.headerMemory.bytes : 0
        return RenderOrder(
            plan: plan, sourceOffset: descriptors.sourceOffset, sourceLength: Int64(job.source.count),
            destinationOffset: job.offset, intermediateOffset: job.intermediateTarget?.offset,
            alarmSeconds: UInt32(configuration.timeout.seconds + Self.alarmGrace),
            headerSpace: headerSpace, headerTime: configuration.headerTime.milliseconds * 1_000)
    }

    /// The stages of a job.
    private enum Stage {
        /// The worker reads the header.
        case header
        /// It has requested so many bytes and waits.
        case waiting(Int)
        /// It computes.
        case pixels
    }

    /// Follows a job to its end; a worker that has exited, or broken the protocol, ends it, too.
    private func finish(_ job: RenderJob, queued: Int, on process: inout WorkerProcess) -> Ending? {
        do throws(WorkerProtocol.Failure) {
            return try follow(job, queued: queued, on: &process)
        } catch {
            return handleWorkerExit(job, &process)
        }
    }

    private func follow(
        _ job: RenderJob, queued: Int, on process: inout WorkerProcess
    ) throws(WorkerProtocol.Failure) -> Ending? {
        var stage = Stage.header
        var isPostponed = false
        var deadline = now + configuration.timeout.duration
        var patience = Duration.zero
        // When it is looked at how long the job has computed; nil where that does not matter any more.
        var review: ContinuousClock.Instant?
        while true {
            if case .waiting(let bytes) = stage, pool.update({ $0.grant(bytes, to: index, for: job) }) {
                try proceed(.proceed, &stage, &deadline, process)
                if !job.isSlow { review = now + patience }
            }
            let end = min(deadline, review ?? deadline)
            switch (process.wait(alert: alert.raw, until: end, by: pool.clock), stage) {
            case (.message, .header):
                let reply = try process.receive()
                guard case .measured(let bytes, let work) = reply else {
                    return answer(job, reply, queued: queued, from: &process)
                }
                guard bytes >= 0 else { throw .malformed }
                patience = pool.patience(for: work)
                isPostponed = !pool.update { $0.admits(work: job.isSlow ? .max : work, on: index) }
                guard !isPostponed else {
                    try proceed(.refuse(.queueTimedOut), &stage, &deadline, process)
                    continue
                }
                stage = .waiting(bytes)
                deadline = job.deadline
                if exceedsMemoryLimit(bytes) {
                    try proceed(.refuse(.outOfMemory), &stage, &deadline, process)
                }
            case (.message, .pixels):
                let reply = try process.receive()
                guard isPostponed, case .failed(.queueTimedOut) = reply else {
                    return answer(job, reply, queued: queued, from: &process)
                }
                pool.postpone(job)
                return nil
            case (.message, .waiting):
                // It sends nothing before the message to proceed.
                throw .malformed
            case (.deadline, .waiting) where job.deadline > now: deadline = job.deadline
            case (.deadline, .waiting):
                pool.update { $0.releaseMemory(of: index) }
                try proceed(.refuse(.queueTimedOut), &stage, &deadline, process)
            case (.deadline, .pixels) where review != nil && deadline > now:
                let left = patience - process.jobTime()
                review = left > .zero ? now + left : nil
                guard left <= .zero, !pool.update({ $0.admits(work: .max, on: index) }) else { continue }
                return startAgainLater(job, &process)
            case (.deadline, _):
                return giveUp(job, timeOut(after: process.jobTime()), .timeout, &process)
            case (.alert, _):
                handleAlert()
                if isStopping { return giveUp(job, .cancelled, nil, &process) }
                if pool.update({ $0.isCancelled(job) }) {
                    return giveUp(job, .cancelled, .cancelled, &process)
                }
            }
        }
    }

    /// Whether a job needs more than a worker may take; address space, some of which a worker uses from its
    /// start, has a higher limit.
    private func exceedsMemoryLimit(_ bytes: Int) -> Bool {
        let limit = configuration.memoryPerWorker.bytes
        return limit > 0 && bytes > limit
    }

    /// Sends a waiting worker how to proceed.
    private func proceed(
        _ order: WorkerProtocol.Order, _ stage: inout Stage, _ deadline: inout ContinuousClock.Instant,
        _ process: borrowing WorkerProcess
    ) throws(WorkerProtocol.Failure) {
        stage = .pixels
        deadline = now + configuration.timeout.duration
        try process.answer(order)
    }
}
