// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Bodies
@testable import ImageTestSupport
@testable import Imaging
@testable import Rendering

@Suite("A worker that gets no processor", .serialized)
struct StarvedWorkerTests {
    @Test("A job that has had hardly any processor time on two workers says nothing of its picture")
    func starved() async throws {
        let time = ManualTime()
        try await WorkerPool.running(by: time) { pool in
            let job = await pool.begin(
                {
                    let source = StoredBody.bytes(try TestPicture.ramps(64, 48).encoded(as: .png))
                    return try await pool.render(.endless(), from: source, into: RenderTarget().file, at: 0)
                }, until: { $0.busy > 0 })
            for _ in 0..<2 {
                var pid: Int32?
                while pid == nil {
                    await Task.yield()
                    pid = pool.statistics.busy > 0 ? pool.statistics.processIdentifiers.first : nil
                }
                let stopped = try #require(pid)
                kill(stopped, SIGSTOP)
                _ = try await onThread {
                    var info = siginfo_t()
                    waitid(P_PID, id_t(stopped), &info, WSTOPPED | WEXITED | WNOWAIT)
                }
                // The deadline begins anew when the worker has read the header.
                while pool.statistics.processIdentifiers.first == stopped {
                    await pool.pass(.seconds(60), of: time)
                }
            }
            await #expect(throws: RenderError.starved) { try await job.value }
            #expect(pool.statistics.restarts == [.timeout: 2])
        }
    }
}
