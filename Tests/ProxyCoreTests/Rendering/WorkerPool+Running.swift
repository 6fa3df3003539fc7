// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Imaging
@testable import Primitives
@testable import Rendering

extension WorkerPool {
    /// Lends a running pool of one worker with long times, unless `change` says otherwise, and stops it in
    /// the end.
    /// - Parameter time: by which its jobs and workers take too long; the system's by default.
    static func running(
        by time: ManualTime? = nil, executable: String = DaemonProcess.executable,
        patience: Duration = .seconds(3_600), _ change: (inout TransformConfiguration) -> Void = { _ in },
        _ body: (WorkerPool) async throws -> Void
    ) async throws {
        var configuration = TransformConfiguration()
        configuration.workers = 1
        // By the system's clock no test waits for them, however busy the machine.
        configuration.timeout = time == nil ? .hours(1) : .minutes(1)
        configuration.queueTimeout = configuration.timeout
        // A test that waits for a worker must not keep it from the processor.
        configuration.niceness = 0
        change(&configuration)
        let pool = WorkerPool(
            configuration: configuration, executable: executable,
            clock: time.map { PoolClock($0) } ?? PoolClock(), patience: patience)
        try await pool.start()
        do { try await body(pool) } catch {
            await pool.stop()
            throw error
        }
        await pool.stop()
        #expect(pool.statistics.processIdentifiers.isEmpty)
    }

    /// Starts a job, and returns when it is running.
    func begin(
        _ work: @escaping @Sendable () async throws -> Rendition, until isUnderWay: (Statistics) -> Bool
    ) async -> Task<Rendition, any Error> {
        let hasEnded = Observed(false)
        let job = Task {
            defer { hasEnded.update { $0 = true } }
            return try await work()
        }
        while !isUnderWay(statistics), !hasEnded.value { await Task.yield() }
        return job
    }

    /// Waits until all workers are idle, and stops their processes: they hold their jobs for as long as the
    /// test needs.
    func stopProcesses() async -> [Int32] {
        while statistics.idle < configuration.workers { await Task.yield() }
        let stopped = statistics.processIdentifiers
        for pid in stopped { kill(pid, SIGSTOP) }
        return stopped
    }

    /// Lets time pass by which a pool's jobs and workers take too long.
    func pass(_ duration: Duration, of time: ManualTime) async {
        time.advance(by: duration)
        // Wakes the threads that wait for their workers.
        await ping()
    }

    /// Waits until a worker has taken so much processor time more, which nothing but its work lets pass.
    static func processorTime(_ duration: Duration, of pid: Int32) async {
        guard let before = processorTime(of: pid) else { return }
        while let now = processorTime(of: pid), now - before < duration { await Task.yield() }
    }

    /// The processor time that a process has taken; nil if it is gone.
    private static func processorTime(of pid: Int32) -> Duration? {
        var (clock, time) = (clockid_t(), timespec())
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else { return nil }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

extension PoolClock {
    /// A time that a test advances.
    init(_ time: ManualTime) {
        self.init(now: { time.now }, schedule: { time.schedule(after: $0, $1) })
    }
}

extension RenderPlan {
    /// A job that takes minutes, so that it does not end by itself while a test watches it, however little of
    /// the processor the test gets: no quality makes its result small enough.
    static func endless() throws -> Self {
        var plan = Self(
            pipeline: try TransformPipeline(parsing: "resize:3000x3000:fill:enlarge=1"),
            format: .explicit(.avif))
        plan.effort = .full
        plan.maxBytes = 1
        return plan
    }
}
