// SPDX-License-Identifier: Apache-2.0

import Bodies
import Glibc
import Imaging
import Primitives

/// How jobs end, and with them, perhaps, their worker.
extension WorkerThread {
    /// Kills the worker of a job that takes longer than it may while another one of much work runs; the job has its turn when
    /// that has ended.
    func startAgainLater(_ job: RenderJob, _ process: inout WorkerProcess) -> Ending {
        process.end()
        pool.update { state in
            state.workerEnded(index, .timeout)
            state.releaseMemory(of: index)
        }
        var job = job
        job.isSlow = true
        pool.postpone(job)
        return .gone
    }

    /// Decides what a worker's exit, or its breach of the protocol, says of its job: a worker that its own
    /// alarm has ended took too long; one that another process has killed says nothing of the picture; any
    /// other has crashed.
    func handleWorkerExit(_ job: RenderJob, _ process: inout WorkerProcess) -> Ending {
        let hasEndedItself = process.hasEndedItself()
        let computed = process.jobTime()
        process.end()
        switch process.endSignal {
        // The header has taken its processor time.
        case SIGPROF: return giveUp(job, .timedOut, .timeout, &process)
        case SIGALRM: return giveUp(job, timeOut(after: computed), .timeout, &process)
        default: break
        }
        let wasKilled = hasEndedItself && process.wasKilled
        return giveUp(job, wasKilled ? .workerKilled : .decoderCrashed, .crash, &process)
    }

    func answer(
        _ job: RenderJob, _ reply: WorkerProtocol.Reply, queued: Int, from process: inout WorkerProcess
    ) -> Ending? {
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
        case .ready, .unfit, .measured:
            return giveUp(job, .decoderCrashed, .crash, &process)
        }
    }

    /// Kills the worker, so that it writes no more, and then fails its job; no reason means that the pool
    /// stops.
    func giveUp(
        _ job: RenderJob, _ error: RenderError, _ reason: WorkerPool.RestartReason?,
        _ process: inout WorkerProcess
    ) -> Ending {
        let isRetried = !job.isRetried && shouldRetry(error, reason, process)
        process.end()
        pool.update { state in
            state.workerEnded(index, reason, with: isRetried ? nil : job)
            state.releaseMemory(of: index)
        }
        guard isRetried else {
            job.finish(.failure(error))
            return .gone
        }
        var again = job
        again.isRetried = true
        return .retry(again)
    }

    /// Whether something other than the job may have ended its worker, so that it is retried.
    ///
    /// A crash may have another cause: an earlier picture, the system's lack of memory, an operator. So may a
    /// lack of memory, but only after other jobs.
    private func shouldRetry(
        _ error: RenderError, _ reason: WorkerPool.RestartReason?, _ process: borrowing WorkerProcess
    ) -> Bool {
        switch reason {
        case .crash: true
        case .memory: process.jobs > 1
        case .timeout: error == .starved
        default: false
        }
    }

    /// Whose fault it is that a job's time is up: the picture's if the worker has computed nearly all that time. One that was
    /// stopped, or had hardly a processor because clients flood the event loops, says nothing of it.
    func timeOut(after computed: Duration) -> RenderError {
        computed < configuration.timeout.duration * 3 / 4 ? .starved : .timedOut
    }

    /// Checks a worker's reply.
    private func checked(_ rendition: Rendition, _ job: RenderJob) -> Result<Rendition, RenderError> {
        let check = RenditionCheck(plan: job.plan, rendition: rendition, sniffed: job.source.imageFormat)
        guard check.isPlausible, check.matchesFile(job.destination, from: job.offset) else {
            return .failure(.decoderCrashed)
        }
        guard let written = rendition.intermediate else { return .success(rendition) }
        guard let place = job.intermediateTarget,
            RenditionCheck.holds(place.file, written.byteCount, from: place.offset, as: written.format)
        else { return .failure(.decoderCrashed) }
        return .success(rendition)
    }

    func end(_ job: RenderJob, _ result: Result<Rendition, RenderError>) {
        pool.update { state in
            state.jobEnded(job, at: now)
            // Before the answer: its receiver may rely on the memory being free.
            state.releaseMemory(of: index)
        }
        job.finish(result)
    }
}
