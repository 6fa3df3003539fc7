// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Bodies
@testable import ImageTestSupport
@testable import Imaging
@testable import Primitives
@testable import Rendering

@Suite("Turns at the workers", .serialized)
struct WorkerTurnTests {
    private static let source = StoredBody.bytes((try? TestPicture.ramps(64, 48).encoded(as: .png)) ?? [])

    private func render(
        _ pool: WorkerPool, _ plan: RenderPlan = RenderPlan(format: .explicit(.png)),
        for client: UInt32? = nil
    ) async throws(RenderError) -> Rendition {
        let target: RenderTarget
        do { target = try RenderTarget() } catch { throw .unavailable("no target") }
        let interest = Waiters(client.map { ClientID(v4: $0) })
        return try await pool.render(plan, from: Self.source, into: target.file, at: 0, for: interest)
    }

    @Test("Jobs of much work leave one worker to the others, however many clients request them")
    func expensive() async throws {
        let plan = try RenderPlan.endless()
        try await WorkerPool.running({ $0.workers = 2 }) { pool in
            let finished = Observed(0)
            let jobs = (1...3 as ClosedRange<UInt32>).map { client in
                Task {
                    // Ignored: that it is cancelled in the end.
                    _ = try? await render(pool, plan, for: client)
                    finished.update { $0 += 1 }
                }
            }
            var state = pool.statistics
            while (state.busy, state.idle, state.queueDepth) != (1, 1, 2), finished.value == 0 {
                await Task.yield()
                state = pool.statistics
            }

            let other = try await render(pool)

            #expect(other.width == 64)
            #expect(finished.value == 0)
            jobs.forEach { $0.cancel() }
            for job in jobs { await job.value }
        }
    }

    @Test("A job of much work that had to wait runs as soon as another one has ended")
    func dearInTurn() async throws {
        var plan = RenderPlan(
            pipeline: try TransformPipeline(parsing: "resize:1200x1200:fill:enlarge=1"),
            format: .explicit(.webp))
        plan.isLossless = true
        try await WorkerPool.running({ $0.workers = 2 }) { [plan] pool in
            let jobs = (1...3 as ClosedRange<UInt32>).map { client in
                Task { try await render(pool, plan, for: client).width }
            }

            for job in jobs {
                let width = try await job.value
                #expect(width == 1_200)
            }
        }
    }

    @Test("A job that computes for longer than its header promised waits like one of much work")
    func slow() async throws {
        var plan = RenderPlan(
            pipeline: try TransformPipeline(parsing: "resize:600x600:fill:enlarge=1"),
            format: .explicit(.webp))
        plan.isLossless = true
        try await WorkerPool.running(patience: .microseconds(10), { $0.workers = 2 }) { [plan] pool in
            let first = await pool.begin(
                { try await render(pool, .endless(), for: 1) }, until: { $0.busy == 1 })
            // It waits once the header of the first has been read.
            let second = await pool.begin(
                { try await render(pool, .endless(), for: 2) },
                until: { $0.idle == 1 && $0.busy == 1 && $0.queueDepth == 1 })
            let slow = await pool.begin(
                { try await render(pool, plan, for: 3) },
                until: { $0.restarts[.timeout] == 1 && $0.idle == 1 })
            #expect(pool.statistics.queueDepth == 2)

            second.cancel()
            first.cancel()

            let width = try await slow.value.width
            #expect(width == 600)
            #expect(pool.statistics.restarts[.timeout] == 1)
        }
    }

    @Test("A client that fills the queue loses its own jobs to those of others, who are all served")
    func fairness() async throws {
        try await WorkerPool.running({ $0.queue = 4 }) { pool in
            let refusals = Observed<[UInt32]>([])
            func begin(_ client: UInt32) -> Task<Int?, Never> {
                Task {
                    do throws(RenderError) { return try await render(pool, for: client).width } catch {
                        if error == .queueFull { refusals.update { $0.append(client) } }
                        return nil
                    }
                }
            }
            // A worker that is stopped holds its job for as long as the test needs.
            let pid = try #require(pool.statistics.processIdentifiers.first)
            kill(pid, SIGSTOP)
            let job = await pool.begin({ try await render(pool) }, until: { $0.busy > 0 })
            let many = (0..<4).map { _ in begin(1) }
            while pool.statistics.queueDepth < 4 { await Task.yield() }

            let others = (2...4).map { begin($0) }
            while refusals.value.count < 3 { await Task.yield() }
            kill(pid, SIGCONT)

            for task in others { #expect(await task.value == 64) }
            #expect(try await job.value.width == 64)
            var served = 0
            for task in many where await task.value == 64 { served += 1 }
            #expect(served == 1)
            #expect(refusals.value == [1, 1, 1])
        }
    }
}
