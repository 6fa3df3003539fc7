// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Bodies
@testable import ImageTestSupport
@testable import Imaging
@testable import Primitives
@testable import Rendering

/// Workers are stopped by a signal to hold a job for as long as a test needs.
@Suite("Worker processes", .serialized)
struct WorkerPoolTests {
    private static let source = StoredBody.bytes((try? TestPicture.ramps(64, 48).encoded(as: .png)) ?? [])
    private static let plan = RenderPlan(format: .explicit(.png))

    private func render(
        _ pool: WorkerPool, _ plan: RenderPlan = plan
    ) async throws(RenderError) -> Rendition {
        let target: RenderTarget
        do { target = try RenderTarget() } catch { throw .unavailable("no target") }
        return try await pool.render(plan, from: Self.source, into: target.file, at: 0)
    }

    /// Stops a worker, and returns when it has stopped: a signal alone may lose the race against a job.
    private func stop(_ pid: Int32) async {
        kill(pid, SIGSTOP)
        _ = try? await onThread {
            var info = siginfo_t()
            waitid(P_PID, id_t(pid), &info, WSTOPPED | WEXITED | WNOWAIT)
        }
    }

    /// Stops the worker, gives it a job, and returns when the job has been sent.
    private func hold(
        _ pool: WorkerPool, _ plan: RenderPlan = plan
    ) async throws -> (pid: Int32, job: Task<Rendition, any Error>) {
        let pid = try #require(pool.statistics.processIdentifiers.first)
        await stop(pid)
        let job = await pool.begin({ try await render(pool, plan) }, until: { $0.busy > 0 })
        // The worker's thread answers only where it waits for the worker.
        await pool.ping()
        return (pid, job)
    }

    @Test("A worker renders bytes and ranges of files like the daemon's own process")
    func renders() async throws {
        try await WorkerPool.running { pool in
            let target = try RenderTarget()
            let file = try RenderTarget()
            guard case .bytes(let bytes) = Self.source else { return }
            try DescriptorBytes.write(Array("head".utf8) + bytes, to: file.file.raw)

            let fromBytes = try await pool.render(Self.plan, from: Self.source, into: target.file, at: 10)
            #expect(try TestPicture(decoding: target.bytes(fromBytes, from: 10)) == .ramps(64, 48))
            let fromFile = try await pool.render(
                Self.plan, from: .file(file.file, offset: 4, length: Int64(bytes.count)), into: target.file,
                at: 0)
            #expect(try TestPicture(decoding: target.bytes(fromFile)) == .ramps(64, 48))
            #expect(fromFile.source == fromBytes.source)
        }
    }

    @Test("A worker's errors are returned unchanged, and it continues")
    func errors() async throws {
        try await WorkerPool.running { pool in
            let target = try RenderTarget()
            var plan = Self.plan
            plan.limits.sourcePixels = 1

            await #expect(throws: RenderError.notAnImage) {
                try await pool.render(Self.plan, from: .bytes([1, 2, 3]), into: target.file, at: 0)
            }
            await #expect(throws: RenderError.tooManyPixels("")) {
                try await pool.render(plan, from: Self.source, into: target.file, at: 0)
            }
            #expect(try await render(pool).width == 64)
            #expect(pool.statistics.restarts.isEmpty)
        }
    }

    @Test("A picture that crashes two workers fails alone; the next has a new worker")
    func crash() async throws {
        try await WorkerPool.running { pool in
            let target = try RenderTarget()
            // Beyond the largest file that a worker may write: the kernel ends it (setrlimit(2), RLIMIT_FSIZE).
            let beyond = Int64(TransformConfiguration().memoryPerWorker.bytes) * 2

            await #expect(throws: RenderError.decoderCrashed) {
                try await pool.render(Self.plan, from: Self.source, into: target.file, at: beyond)
            }

            #expect(try await render(pool).width == 64)
            #expect(pool.statistics.restarts == [.crash: 2])
        }
    }

    @Test("A job whose worker is killed is retried by another one")
    func killed() async throws {
        try await WorkerPool.running { pool in
            let (pid, job) = try await hold(pool)

            kill(pid, SIGKILL)

            #expect(try await job.value.width == 64)
            #expect(pool.statistics.restarts == [.crash: 1])
            #expect(pool.statistics.processIdentifiers != [pid])
        }
    }

    @Test("A picture whose workers are both killed from outside is not at fault")
    func killedTwice() async throws {
        try await WorkerPool.running { pool in
            let (first, job) = try await hold(pool, try RenderPlan.endless())
            kill(first, SIGKILL)
            while pool.statistics.processIdentifiers.first ?? first == first { await Task.yield() }
            let second = try #require(pool.statistics.processIdentifiers.first)
            await stop(second)
            await pool.ping()
            kill(second, SIGKILL)

            await #expect(throws: RenderError.workerKilled) { try await job.value }
            #expect(try await render(pool).width == 64)
            #expect(pool.statistics.restarts == [.crash: 2])
        }
    }

    @Test("An idle worker's exit has no effect")
    func idleDeath() async throws {
        try await WorkerPool.running { pool in
            let pid = try #require(pool.statistics.processIdentifiers.first)

            kill(pid, SIGKILL)
            while pool.statistics.restarts.isEmpty { await Task.yield() }

            #expect(try await render(pool).width == 64)
            #expect(pool.statistics.restarts == [.crash: 1])
        }
    }

    @Test("A job that computes past its deadline is killed and has timed out")
    func deadline() async throws {
        let time = ManualTime()
        try await WorkerPool.running(by: time, { $0.timeout = .milliseconds(10) }) { pool in
            let pid = try #require(pool.statistics.processIdentifiers.first)
            let plan = try RenderPlan.endless()
            let job = await pool.begin({ try await render(pool, plan) }, until: { $0.busy > 0 })
            // A worker that has computed less is not at fault.
            await WorkerPool.processorTime(.milliseconds(10), of: pid)
            // The deadline begins anew when the worker has read the header.
            while pool.statistics.busy > 0 { await pool.pass(.milliseconds(10), of: time) }
            await #expect(throws: RenderError.timedOut) { try await job.value }

            #expect(kill(pid, 0) == -1, "it is gone")
            #expect(pool.statistics.restarts == [.timeout: 1])
        }
    }

    @Test("A worker that hangs without computing is killed at the deadline, and another one does its job")
    func hung() async throws {
        let time = ManualTime()
        try await WorkerPool.running(by: time) { pool in
            let (pid, job) = try await hold(pool)

            await pool.pass(.seconds(60), of: time)
            #expect(try await job.value.width == 64)

            #expect(kill(pid, 0) == -1, "it is gone")
            #expect(pool.statistics.restarts == [.timeout: 1])
        }
    }

    @Test("A full queue refuses at once, and waiting jobs are served later")
    func queueFull() async throws {
        try await WorkerPool.running({ $0.queue = 2 }) { pool in
            let (pid, job) = try await hold(pool)
            let waiting = (0..<2).map { _ in Task { try await render(pool) } }
            while pool.statistics.queueDepth < 2 { await Task.yield() }

            await #expect(throws: RenderError.queueFull) { try await render(pool) }

            kill(pid, SIGCONT)
            for job in [job] + waiting { #expect(try await job.value.width == 64) }
        }
    }

    @Test("A job for which no worker becomes free fails at its deadline")
    func queueTimeout() async throws {
        let time = ManualTime()
        try await WorkerPool.running(by: time, { $0.timeout = .hours(1) }) { pool in
            let (pid, job) = try await hold(pool)
            let waiting = Task { try await render(pool) }
            await time.timersSet.wait { $0 == 2 }

            await pool.pass(.seconds(59), of: time)
            #expect(pool.statistics.queueDepth == 1)
            await pool.pass(.seconds(1), of: time)
            await #expect(throws: RenderError.queueTimedOut) { try await waiting.value }

            kill(pid, SIGCONT)
            #expect(try await job.value.width == 64, "the one that runs is not touched")
        }
    }

    @Test("Cancelling removes a waiting job from the queue and kills a running one")
    func cancellation() async throws {
        try await WorkerPool.running { pool in
            let (pid, running) = try await hold(pool)
            let waiting = Task { try await render(pool) }
            while pool.statistics.queueDepth < 1 { await Task.yield() }

            waiting.cancel()
            await #expect(throws: RenderError.cancelled) { try await waiting.value }
            #expect(pool.statistics.queueDepth == 0)
            running.cancel()
            await #expect(throws: RenderError.cancelled) { try await running.value }

            #expect(kill(pid, 0) == -1, "it is gone")
            #expect(try await render(pool).width == 64)
            #expect(pool.statistics.restarts == [.cancelled: 1])
        }
    }

    @Test("A task cancelled beforehand renders nothing")
    func cancelledBefore() async throws {
        try await WorkerPool.running { pool in
            let gate = Gate()
            let task = Task {
                await gate.passage()
                return try await render(pool)
            }
            task.cancel()
            gate.open()

            await #expect(throws: RenderError.cancelled) { try await task.value }
            #expect(pool.statistics.restarts.isEmpty)
        }
    }

    @Test("A worker is replaced after its number of jobs")
    func recycling() async throws {
        try await WorkerPool.running({ $0.jobsPerWorker = 2 }) { pool in
            for _ in 0..<5 { _ = try await render(pool) }
            // The worker that takes the sixth is the third one.
            _ = try await render(pool)

            #expect(try #require(pool.statistics.restarts[.recycled]) >= 2)
        }
    }

    @Test("Changed bounds and times count for the next job")
    func adopts() async throws {
        try await WorkerPool.running({ $0.queue = 2 }) { pool in
            var configuration = pool.configuration
            configuration.queue = 1
            configuration.jobsPerWorker = 1
            let (pid, job) = try await hold(pool)
            let waiting = (0..<2).map { _ in Task { try await render(pool) } }
            while pool.statistics.queueDepth < 2 { await Task.yield() }

            pool.adopt(configuration)

            await #expect(throws: RenderError.queueFull) { try await render(pool) }
            kill(pid, SIGCONT)
            for job in [job] + waiting { #expect(try await job.value.width == 64) }
            #expect(try #require(pool.statistics.restarts[.recycled]) >= 2)
        }
    }

    @Test("Stopping ends running and waiting jobs, and refuses later ones")
    func stopping() async throws {
        try await WorkerPool.running { pool in
            let (pid, running) = try await hold(pool)
            let waiting = Task { try await render(pool) }
            while pool.statistics.queueDepth < 1 { await Task.yield() }

            await pool.stop()

            await #expect(throws: RenderError.cancelled) { try await running.value }
            await #expect(throws: RenderError.cancelled) { try await waiting.value }
            await #expect(throws: RenderError.self) { try await render(pool) }
            #expect(kill(pid, 0) == -1 && !pool.isReady)
        }
    }

    @Test("A pool whose worker cannot be started reports it")
    func cannotStart() async throws {
        for executable in ["/nonexistent", "/bin/true"] {
            let pool = WorkerPool(configuration: TransformConfiguration(), executable: executable)

            let error = await #expect(throws: RenderError.self) { try await pool.start() }
            let other = WorkerPool(configuration: TransformConfiguration(), executable: executable)
            await #expect(throws: RenderError.self) { try await other.startFirst() }

            guard let error, case .unavailable(let text) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(!text.isEmpty)
        }
    }

    @Test(
        "A JPEG with a missing part is damaged, although its decoder only warns; additional bytes are harmless",
        arguments: [ImageFormat.jpeg, .avif]
    )
    func damagedJPEG(format: ImageFormat) async throws {
        let photo = Fixtures.photo
        let middle = photo.count / 2
        let damaged = [
            Array(photo[..<middle]) + [0xFF, 0xD9],
            photo[..<middle] + [UInt8](repeating: 0, count: 900) + photo[(middle + 900)...],
            Array(photo[..<middle]) + photo,
        ]
        let padded = Array(photo.dropLast(2)) + [0, 0, 0, 0] + [0xFF, 0xD9, 1, 2, 3]
        try await WorkerPool.running { pool in
            let plan = RenderPlan(
                pipeline: try TransformPipeline(parsing: "resize:64x"), format: .explicit(format))
            for source in damaged {
                await #expect(throws: RenderError.self) {
                    try await pool.render(plan, from: .bytes(source), into: RenderTarget().file, at: 0)
                }
            }
            for source in [padded, photo] {
                let rendition = try await pool.render(
                    plan, from: .bytes(source), into: RenderTarget().file, at: 0)
                #expect(rendition.width == 64)
            }
            #expect(pool.statistics.restarts.isEmpty)
        }
    }

    @Test("The pool is ready with its first sandboxed worker; the others follow")
    func startFirst() async throws {
        var configuration = TransformConfiguration()
        configuration.workers = 2
        configuration.timeout = .minutes(1)
        configuration.queueTimeout = .minutes(1)
        let pool = WorkerPool(configuration: configuration, executable: DaemonProcess.executable)

        try await pool.startFirst()

        #expect(pool.isReady && pool.sandbox?.isComplete == true)
        #expect(try await render(pool).width == 64)
        while pool.statistics.starting > 0 { await Task.yield() }
        #expect(pool.statistics.processIdentifiers.count == 2)
        await pool.stop()
        #expect(pool.statistics.processIdentifiers.isEmpty && !pool.isReady)
    }

    @Test("Two workers answer many concurrent jobs, and no descriptor is left open")
    func manyJobs() async throws {
        let before = try openDescriptors()
        try await WorkerPool.running({
            $0.workers = 2
            $0.queue = 64
        }) { pool in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<40 { group.addTask { try await render(pool).width } }
                for try await width in group { #expect(width == 64) }
            }
            #expect(pool.statistics.processIdentifiers.count == 2)
        }
        // Other suites of this process open descriptors, too, but not in this folder.
        #expect(try openDescriptors().filter { !before.contains($0) && isOurs($0) }.isEmpty)
    }

    private func openDescriptors() throws -> Set<String> {
        let folder = try #require(opendir("/proc/self/fd"))
        defer { closedir(folder) }
        var names: Set<String> = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            var buffer = [CChar](repeating: 0, count: 256)
            let length = readlink("/proc/self/fd/\(name)", &buffer, 255)
            let target = String(
                decoding: buffer.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            names.insert("\(name) \(target)")
        }
        return names
    }

    private func isOurs(_ name: String) -> Bool {
        name.contains("imageproxyd-source") || name.contains("rendition")
    }
}
