// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Bodies
@testable import ImageTestSupport
@testable import Imaging
@testable import Rendering

@Suite("A job whose worker was killed", .serialized)
struct RetriedJobTests {
    private static let source = StoredBody.bytes((try? TestPicture.ramps(64, 48).encoded(as: .png)) ?? [])

    private func render(_ pool: WorkerPool) async throws -> Rendition {
        try await pool.render(
            RenderPlan(format: .explicit(.png)), from: Self.source, into: RenderTarget().file, at: 0)
    }

    /// A program that becomes a worker, from its second start on only once a line was written to `gate`. It is linked: one that
    /// the test had written might still be open for writing in a process that is just being started, and could not be.
    private static func program(in folder: TemporaryDirectory) throws -> String {
        let path = folder.path + "/worker"
        try #require(
            symlink(Fixtures.path("gated-worker"), path) == 0
                && symlink(DaemonProcess.executable, folder.path + "/daemon") == 0
                && mkfifo(folder.path + "/gate", 0o600) == 0)
        return path
    }

    private static func open(gate: String) async throws {
        try await onThread {
            // Waits for the program.
            let descriptor = Glibc.open(gate, O_WRONLY | O_CLOEXEC)
            defer { close(descriptor) }
            try #require(write(descriptor, "\n", 1) == 1)
        }
    }

    @Test("is not run by a second one if it is cancelled before that has started")
    func cancelled() async throws {
        let folder = try TemporaryDirectory()
        try await WorkerPool.running(executable: try Self.program(in: folder)) { pool in
            let stopped = await pool.stopProcesses()
            let job = await pool.begin({ try await render(pool) }, until: { $0.busy > 0 })
            await pool.ping()
            for pid in stopped { kill(pid, SIGKILL) }
            while pool.statistics.restarts.isEmpty { await Task.yield() }

            job.cancel()
            try await Self.open(gate: folder.path + "/gate")

            await #expect(throws: RenderError.cancelled) { try await job.value }
            let next = try await render(pool)
            #expect(next.width == 64)
            #expect(pool.statistics.restarts == [.crash: 1], "the second worker lives on")
        }
    }
}
