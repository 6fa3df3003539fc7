// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Bodies
@testable import ImageTestSupport
@testable import Imaging
@testable import Primitives
import Rendering

@Suite("Jobs in the background", .serialized)
struct BackgroundJobTests {
    private static let source = StoredBody.bytes((try? TestPicture.ramps(64, 48).encoded(as: .png)) ?? [])
    private func render(_ pool: WorkerPool, inBackground: Bool = false) async throws -> Rendition {
        let target = try RenderTarget()
        let interest = Waiters(isBackground: inBackground)
        return try await pool.render(
            RenderPlan(format: .explicit(.png)), from: Self.source, into: target.file, at: 0, for: interest)
    }

    private func outcome(of job: Task<Rendition, any Error>) async -> RenderError? {
        do {
            _ = try await job.value
            return nil
        } catch {
            return error as? RenderError
        }
    }

    @Test(
        "A background job ends when a client's job finds no worker idle, and the client's job runs",
        arguments: [1, 2])
    func interrupted(workers: Int) async throws {
        try await WorkerPool.running({ $0.workers = workers }) { pool in
            _ = await pool.stopProcesses()
            let background = Task { try await render(pool, inBackground: true) }
            while pool.statistics.busy < 1 { await Task.yield() }
            let others = (1..<workers).map { _ in Task { try await render(pool) } }
            while pool.statistics.busy < workers { await Task.yield() }
            #expect(pool.statistics.restarts.isEmpty, "a worker that is idle is taken first")

            let client = try await render(pool)

            #expect(client.width == 64)
            #expect(await outcome(of: background) == .cancelled)
            #expect(pool.statistics.restarts == [.cancelled: 1])
            #expect(pool.statistics.background == 0)
            others.forEach { $0.cancel() }
            for other in others { #expect(await outcome(of: other) == .cancelled) }
        }
    }

    @Test(
        "A background job runs alone, and waits while a client's next job would find no other worker idle"
    )
    func waits() async throws {
        try await WorkerPool.running({ $0.workers = 2 }) { pool in
            // Both, since a worker that has just started may take the job for which another one is woken.
            let stopped = await pool.stopProcesses()
            let busy = Task { try await render(pool) }
            while pool.statistics.busy < 1 { await Task.yield() }
            let background = Task { try await render(pool, inBackground: true) }
            while pool.statistics.background < 1 { await Task.yield() }
            let second = Task { try await render(pool, inBackground: true) }

            #expect(await outcome(of: second) == .queueFull)
            let client = Task { try await render(pool) }
            while pool.statistics.busy < 2 { await Task.yield() }
            #expect(pool.statistics.background == 1, "the second worker is a client's")
            for pid in stopped { kill(pid, SIGCONT) }

            for job in [client, busy, background] {
                let width = try await job.value.width
                #expect(width == 64)
            }
            #expect(pool.statistics.restarts.isEmpty)
        }
    }
}
