// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import ProxyCore

@Suite("Turns at the workers", .serialized)
struct WorkerTurnTests {
    private static let source = StoredBody.bytes((try? TestPicture.ramps(64, 48).encoded(as: .png)) ?? [])

    private func render(_ pool: WorkerPool) async throws(RenderError) -> Rendition {
        let target: RenderTarget
        do { target = try RenderTarget() } catch { throw .unavailable("no target") }
        return try await pool.render(
            RenderPlan(format: .explicit(.png)), from: Self.source, into: target.file, at: 0)
    }

    @Test("A client that fills the queue loses its own jobs to those of others, who are all served")
    func fairness() async throws {
        try await WorkerPool.running({ $0.queue = 4 }) { pool in
            let refusals = Observed<[UInt32]>([])
            func begin(_ client: UInt32) -> Task<Int?, Never> {
                FetchContext.$current.withValue(FetchContext(client: ClientID(v4: client))) {
                    Task {
                        do throws(RenderError) { return try await render(pool).width } catch {
                            if error == .queueFull { refusals.update { $0.append(client) } }
                            return nil
                        }
                    }
                }
            }
            // A worker that is stopped holds its job for as long as the test needs.
            let pid = try #require(pool.statistics.processIdentifiers.first)
            kill(pid, SIGSTOP)
            let job = try await pool.begin({ try await render(pool) }, until: { $0.busy > 0 })
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
