// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Bodies
@testable import ImageTestSupport
@testable import Imaging
@testable import Primitives
@testable import Rendering

@Suite("A job that another client joins", .serialized)
struct JoinedJobTests {
    private static let source = StoredBody.bytes((try? TestPicture.ramps(64, 48).encoded(as: .png)) ?? [])

    private func render(
        _ pool: WorkerPool, for interest: Waiters = Waiters()
    ) async throws(RenderError) -> Rendition {
        let target: RenderTarget
        do { target = try RenderTarget() } catch { throw .unavailable("no target") }
        return try await pool.render(
            RenderPlan(format: .explicit(.png)), from: Self.source, into: target.file, at: 0, for: interest)
    }

    @Test("waits from then on as long as a job of that client would, and no longer when it asks again")
    func deadline() async throws {
        let time = ManualTime()
        try await WorkerPool.running(by: time, { $0.timeout = .hours(1) }) { pool in
            let stopped = await pool.stopProcesses()
            let running = await pool.begin({ try await render(pool) }, until: { $0.busy > 0 })
            let interest = Waiters(ClientID(v4: 1))
            let waiting = Task { try await render(pool, for: interest) }
            await time.timersSet.wait { $0 == 2 }

            await pool.pass(.seconds(50), of: time)
            interest.join(ClientID(v4: 2), .normal, at: time.now)
            await pool.pass(.seconds(20), of: time)
            interest.join(ClientID(v4: 2), .normal, at: time.now)
            interest.join(ClientID(v4: 1), .normal, at: time.now)
            await pool.pass(.seconds(39), of: time)
            #expect(pool.statistics.queueDepth == 1)
            await pool.pass(.seconds(1), of: time)

            await #expect(throws: RenderError.queueTimedOut) { try await waiting.value }
            for pid in stopped { kill(pid, SIGCONT) }
            let width = try await running.value.width
            #expect(width == 64)
        }
    }
}
