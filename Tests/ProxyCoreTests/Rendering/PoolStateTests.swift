// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Bodies
@testable import ImageTestSupport
@testable import Imaging
@testable import Primitives
@testable import Rendering

@Suite("State of the worker pool")
struct PoolStateTests {
    private static let start = ContinuousClock.now

    /// A job that a task waits for until it is finished.
    private func job(_ id: Int, for client: UInt32) async throws -> RenderJob {
        let target = try RenderTarget().file
        let made = Observed<RenderJob?>(nil)
        Task {
            await withCheckedContinuation { continuation in
                let job = RenderJob(
                    id: id, plan: RenderPlan(format: .explicit(.png)), source: .bytes([]),
                    destination: target, offset: 0, intermediateTarget: nil, enqueued: Self.start,
                    queueTimeout: .seconds(60),
                    waiters: Waiters(ClientID(v4: client)), continuation: continuation)
                made.update { $0 = job }
            }
        }
        await made.wait { $0 != nil }
        return try #require(made.value)
    }

    /// The job that the only worker gets next.
    private func next(_ state: inout PoolState, after seconds: Int) -> Int? {
        guard case .job(let job) = state.next(for: 0, at: Self.start + .seconds(seconds)) else { return nil }
        return job.id
    }

    /// The jobs that a worker gets: one of a first client, for which it is killed; one of a second client, which takes 5 s; then
    /// the one of either whose turn it is.
    /// - Parameter restart: has the next worker start, 10 s after the first.
    private func order(restart: (inout PoolState) -> Void) async throws -> [Int?] {
        var state = PoolState(workers: 1, depth: 4, memory: 0)
        var jobs: [RenderJob] = []
        var taken: [Int?] = []
        for (index, client) in ([1, 2, 1, 2] as [UInt32]).enumerated() {
            jobs.append(try await job(index, for: client))
        }
        defer { for job in jobs { job.finish(.failure(.cancelled)) } }

        state.workerStarted(0, pid: 1, at: Self.start)
        _ = state.submit(jobs[0])
        taken.append(next(&state, after: 0))
        state.workerEnded(0, .cancelled, with: jobs[0])
        restart(&state)
        _ = state.submit(jobs[1])
        taken.append(next(&state, after: 10))
        state.jobEnded(jobs[1], at: Self.start + .seconds(15))

        _ = state.submit(jobs[2])
        _ = state.submit(jobs[3])
        taken.append(next(&state, after: 15))
        return taken
    }

    @Test("A client uses a worker that was killed for its job until the next one has started")
    func startCounts() async throws {
        let taken = try await order { $0.workerStarted(0, pid: 2, at: Self.start + .seconds(10)) }
        #expect(taken == [0, 1, 3], "the first client has used 10 s, the second 5 s")
    }

    @Test("A worker that does not start ends that use")
    func failureEndsUse() async throws {
        let taken = try await order { state in
            state.workerFailed(0, .unavailable("no process"), at: Self.start + .seconds(1))
            state.workerStarted(0, pid: 2, at: Self.start + .seconds(10))
        }
        #expect(taken == [0, 1, 2], "the first client has used 1 s, the second 5 s")
    }

    /// Two workers of which the first runs a job of much work, another such job waits, and the second worker sleeps.
    private func state(with jobs: [RenderJob]) throws -> PoolState {
        var state = PoolState(workers: 2, depth: 4, memory: 0)
        for slot in 0..<2 {
            state.threadStarted(slot, try Alert())
            state.workerStarted(slot, pid: Int32(slot), at: Self.start)
        }
        for (slot, job) in jobs.enumerated() {
            _ = state.submit(job)
            guard case .job = state.next(for: slot, at: Self.start) else {
                Issue.record("no job for worker \(slot)")
                continue
            }
        }
        #expect(state.admits(work: .max, on: 0) && !state.admits(work: .max, on: 1))
        state.giveBack(jobs[1], isExpensive: true, at: Self.start)
        guard case .sleep = state.next(for: 1, at: Self.start) else {
            Issue.record("a second job of much work was given out")
            return state
        }
        _ = state.takeEffect()
        return state
    }

    @Test("When the worker of a job of much work exits, a sleeping worker takes the next such job")
    func wokenForExpensive() async throws {
        let jobs = [try await job(1, for: 1), try await job(2, for: 2)]
        defer { for job in jobs { job.finish(.failure(.cancelled)) } }
        var state = try state(with: jobs)

        state.workerEnded(0, .cancelled, with: jobs[0])

        #expect(state.takeEffect().alerts.count == 1)
        guard case .job(let next) = state.next(for: 1, at: Self.start) else {
            Issue.record("it still waits")
            return
        }
        #expect(next.id == 2)
    }

    @Test("When a worker exits that was woken for a job, another sleeping one is woken")
    func wokenInstead() async throws {
        let job = try await job(1, for: 1)
        defer { job.finish(.failure(.cancelled)) }
        var state = PoolState(workers: 2, depth: 4, memory: 0)
        for slot in 0..<2 {
            state.threadStarted(slot, try Alert())
            state.workerStarted(slot, pid: Int32(slot), at: Self.start)
            guard case .sleep = state.next(for: slot, at: Self.start) else {
                Issue.record("there is a job already")
                return
            }
        }
        _ = state.submit(job)
        #expect(state.takeEffect().alerts.count == 1)

        state.workerEnded(0, .crash)

        #expect(state.takeEffect().alerts.count == 1)
    }

    @Test("Once no worker can be started, jobs fail at once and say why, until one has started")
    func unavailable() async throws {
        let jobs = [try await job(1, for: 1), try await job(2, for: 2), try await job(3, for: 3)]
        var state = PoolState(workers: 2, depth: 4, memory: 0)
        let error = RenderError.unavailable("no process")
        func takeFailures() -> [RenderError] { state.takeEffect().failures.map(\.error) }

        _ = state.submit(jobs[0])
        for slot in 0..<2 {
            for _ in 1...PoolState.startsPerJob {
                let early = takeFailures()
                #expect(early.isEmpty)
                state.workerFailed(slot, error, at: Self.start)
            }
        }
        let waited = takeFailures()
        _ = state.submit(jobs[1])
        let refused = takeFailures()
        state.workerStarted(1, pid: 1, at: Self.start)
        let isQueued = state.submit(jobs[2])
        let late = takeFailures()

        #expect(waited == [error] && refused == [error])
        #expect(isQueued && late.isEmpty)
        let taken = next(&state, after: 0)
        #expect(taken == 3)
        for job in jobs { job.finish(.failure(.cancelled)) }
    }
}
