// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// One worker's thread: starts the process, gives it jobs, ends it when it must, and starts the next.
final class WorkerSlot: Sendable {
    /// Wakes the thread: for a job, a cancellation, a ping, the end.
    let alert: Alert
    private let index: Int
    private let configuration: TransformConfiguration
    private let executable: String
    private let pool: WorkerPool

    /// Longest time from spawning a worker to its first word.
    private static let startTimeout = Duration.seconds(10)
    /// First pause after a worker that did not start; doubles each time.
    private static let firstPause = 100
    /// Longest such pause, in milliseconds.
    private static let longestPause = 10_000
    /// Seconds that a worker's own alarm leaves us to end it ourselves.
    private static let alarmGrace = 2

    /// How a worker's service came to an end.
    private enum Ending {
        /// Its end has still to be noted.
        case replaced(WorkerPool.RestartReason)
        /// Its end was noted together with its last job's.
        case gone
        /// It fell over a job that it had others before: what it fell over may be theirs. The job goes to the next worker.
        case retry(RenderJob)
        case stopped
    }

    /// Prepares the thread of worker `index`.
    init(
        index: Int, configuration: TransformConfiguration, executable: String, pool: WorkerPool
    ) throws(RenderError) {
        alert = try Alert()
        self.index = index
        self.configuration = configuration
        self.executable = executable
        self.pool = pool
    }

    /// The thread: returns when the pool stops.
    func run() {
        var failures = 0
        var job: RenderJob?
        while !isStopping {
            do {
                let ending = try serve(first: job)
                failures = 0
                job = nil
                if case .retry(let next) = ending { job = next }
                if case .stopped = ending { break }
            } catch {
                if let job { end(job, .failure(error)) }
                job = nil
                pool.update { ((), $0.workerFailed(index, error)) }
                pause(after: failures)
                failures += 1
            }
        }
        if let job { end(job, .failure(.cancelled)) }
        pool.update { ((), $0.threadEnded(index)) }
    }

    private var isStopping: Bool { pool.update { ($0.isStopping, .init()) } }

    /// Starts a worker and serves until it has to go; `first` is a job that the worker before did not survive.
    private func serve(first: RenderJob?) throws(RenderError) -> Ending {
        var process = try startedProcess()
        pool.update { ((), $0.workerStarted(index, pid: process.pid, isBusy: first != nil)) }
        let ending = first.flatMap { run($0, on: &process) } ?? serve(with: &process)
        switch ending {
        case .replaced(let reason): pool.update { ($0.workerEnded(index, reason), .init()) }
        case .stopped: pool.update { ($0.workerEnded(index, nil), .init()) }
        case .gone, .retry: break
        }
        return ending
    }

    private func startedProcess() throws(RenderError) -> WorkerProcess {
        let settings = WorkerSettings(
            addressSpace: configuration.memoryPerWorker.bytes, niceness: configuration.niceness,
            sandbox: configuration.sandbox)
        var process = try WorkerProcess.launched(executable, settings: settings)
        let deadline = ContinuousClock.now + Self.startTimeout
        while true {
            switch process.wait(alert: alert.raw, until: deadline) {
            case .alert:
                takeNotice()
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
            pool.update { ($0.noteSandbox(report), .init()) }
        case .unfit(let reason): throw .unavailable("a worker can't work: \(reason)")
        default: throw .unavailable("a worker talks nonsense")
        }
    }

    /// Waits before the next attempt, longer each time; the pool's end cuts it short.
    private func pause(after failures: Int) {
        let factor = 1 << min(failures, Self.longestPause.bitWidth / 4)
        let end = ContinuousClock.now + .milliseconds(min(Self.firstPause * factor, Self.longestPause))
        while !isStopping {
            let left = end - .now
            guard left > .zero else { return }
            alert.wait(milliseconds: Int(left / .milliseconds(1)) + 1)
            takeNotice()
        }
    }

    /// Lowers the alert and answers pings.
    private func takeNotice() {
        alert.lower()
        pool.update { ((), $0.answerPings(index)) }
    }

    // MARK: - Jobs

    private func serve(with process: inout WorkerProcess) -> Ending {
        while true {
            switch pool.update({ ($0.next(for: index), .init()) }) {
            case .stop:
                return .stopped
            case .job(let job):
                if let ending = run(job, on: &process) { return ending }
                if process.jobs >= configuration.jobsPerWorker { return .replaced(.recycled) }
                if isSwollen(process) { return .replaced(.memory) }
            case .sleep:
                // An idle worker has nothing to say: it has died.
                if process.wait(alert: alert.raw, until: nil) == .message { return .replaced(.crash) }
                takeNotice()
            }
        }
    }

    /// Whether a worker keeps so much address space that the next job might lack it: libraries do not give all back.
    private func isSwollen(_ process: borrowing WorkerProcess) -> Bool {
        let limit = configuration.memoryPerWorker.bytes
        guard limit > 0 else { return false }
        return process.addressSpace() - process.startSpace > (limit - process.startSpace) / 2
    }

    /// Runs one job to its end; returns how the worker's service ended, if it did.
    private func run(_ job: RenderJob, on process: inout WorkerProcess) -> Ending? {
        let queued = StopWatch.microseconds(.now - job.enqueued)
        let descriptors: JobDescriptors
        do { descriptors = try JobDescriptors(for: job) } catch {
            end(job, .failure(error))
            return nil
        }
        do {
            try process.send(order(for: job, descriptors), with: descriptors.all)
        } catch .malformed {
            end(job, .failure(.unavailable("the plan is too large for a message")))
            return nil
        } catch {
            pool.update { ((), $0.giveBack(job)) }
            return .replaced(.crash)
        }
        return finish(job, queued: queued, on: &process)
    }

    private func order(for job: RenderJob, _ descriptors: JobDescriptors) -> RenderOrder {
        RenderOrder(
            plan: job.plan, sourceOffset: descriptors.sourceOffset, sourceLength: Int64(job.source.count),
            destinationOffset: job.offset, alarm: UInt32(configuration.timeout.seconds + Self.alarmGrace))
    }

    private func finish(_ job: RenderJob, queued: Int, on process: inout WorkerProcess) -> Ending? {
        let deadline = ContinuousClock.now + configuration.timeout.duration
        while true {
            switch process.wait(alert: alert.raw, until: deadline) {
            case .message:
                return answer(job, queued: queued, from: &process)
            case .deadline:
                return giveUp(job, .timedOut, .timeout, &process)
            case .alert:
                takeNotice()
                if isStopping { return giveUp(job, .cancelled, nil, &process) }
                if pool.update({ ($0.isCancelled(job), .init()) }) {
                    return giveUp(job, .cancelled, .cancelled, &process)
                }
            }
        }
    }

    private func answer(_ job: RenderJob, queued: Int, from process: inout WorkerProcess) -> Ending? {
        let reply: WorkerProtocol.Reply
        do { reply = try process.receive() } catch {
            return giveUp(job, .decoderCrashed, .crash, &process)
        }
        switch reply {
        case .finished(var rendition):
            rendition.timings.queue = queued
            end(job, checked(rendition, job))
            return nil
        case .failed(let error):
            end(job, .failure(error))
            return nil
        case .exhausted(let error):
            return giveUp(job, error, .memory, &process)
        case .ready, .unfit:
            return giveUp(job, .decoderCrashed, .crash, &process)
        }
    }

    /// Kills the worker, so that it writes no more, and then fails its job; no reason means that the pool stops.
    private func giveUp(
        _ job: RenderJob, _ error: RenderError, _ reason: WorkerPool.RestartReason?,
        _ process: inout WorkerProcess
    ) -> Ending {
        process.end()
        let isRetried = (reason == .crash || reason == .memory) && process.jobs > 1
        pool.update { state in
            if !isRetried { state.jobEnded(job) }
            state.workerEnded(index, reason)
            return ((), .init())
        }
        guard !isRetried else { return .retry(job) }
        job.fail(error)
        return .gone
    }

    /// Does not take a worker's word for how much it has written.
    private func checked(_ rendition: Rendition, _ job: RenderJob) -> Result<Rendition, RenderError> {
        var facts = stat()
        guard unsafe fstat(job.destination.raw, &facts) == 0, rendition.byteCount > 0,
            Int64(facts.st_size) >= job.offset + Int64(rendition.byteCount)
        else { return .failure(.decoderCrashed) }
        return .success(rendition)
    }

    private func end(_ job: RenderJob, _ result: Result<Rendition, RenderError>) {
        pool.update { state in
            state.jobEnded(job)
            return ((), .init())
        }
        job.finish(result)
    }
}
