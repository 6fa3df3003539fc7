// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import ProxyCore

/// Measures the cost of isolation: the same jobs in sandboxed workers and in this process, in turns, one at a
/// time. `bench-workers PHOTO DAEMON [JOBS]`: a large photo resized to 800 px width, a tiny picture for the
/// latency, and two workers compared with one; prints JSON.
@main
enum Workers {
    private static let rounds = 5

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3, let photo = read(arguments[1]) else {
            print("usage: bench-workers PHOTO DAEMON [JOBS]")
            exit(64)
        }
        let jobs = arguments.count > 3 ? Int(arguments[3]) ?? 10 : 10
        var configuration = TransformConfiguration()
        configuration.workers = 1
        // Both at the same priority, so that the scheduler does not affect the comparison.
        configuration.niceness = 0
        let pool = WorkerPool(configuration: configuration, executable: arguments[2])
        try await pool.start()
        let local = InProcessRenderer()
        let plan = RenderPlan(
            pipeline: try TransformPipeline(parsing: "resize:800x"), format: .explicit(.jpeg))
        let tiny = RenderPlan(pipeline: try TransformPipeline(parsing: "resize:8x"), format: .explicit(.jpeg))
        let small = StoredBody.bytes(try await rendered(tiny, photo, by: local))

        var (isolated, own, there, here) = ([Double](), [Double](), [Double](), [Double]())
        for _ in 0..<rounds {
            isolated.append(try await cost(of: plan, photo, jobs, by: pool, pool))
            own.append(try await cost(of: plan, photo, jobs, by: local, pool))
            there.append(try await latency(of: tiny, small, jobs * 20, by: pool))
            here.append(try await latency(of: tiny, small, jobs * 20, by: local))
        }
        await pool.stop()
        let (workers, inProcess) = (median(isolated), median(own))
        let rates = [
            try await rate(of: plan, photo, jobs, 1, arguments[2]),
            try await rate(of: plan, photo, jobs, 2, arguments[2]),
        ]
        print(
            """
            {"workers": \(shown(workers)), "inProcess": \(shown(inProcess)), "ratio": \(shown(workers / inProcess)),
             "latency": \(shown(median(there))), "ownLatency": \(shown(median(here))), "one": \(shown(rates[0])),
             "two": \(shown(rates[1]))}
            """)
    }

    /// Jobs per second of this number of workers, with twice as many callers; the best of some rounds.
    private static func rate(
        of plan: RenderPlan, _ source: StoredBody, _ jobs: Int, _ workers: Int, _ daemon: String
    ) async throws -> Double {
        var configuration = TransformConfiguration()
        configuration.workers = workers
        configuration.queue = jobs * workers
        configuration.queueTimeout = .minutes(1)
        let pool = WorkerPool(configuration: configuration, executable: daemon)
        try await pool.start()
        var best = 0.0
        for _ in 0..<rounds {
            let start = ContinuousClock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<workers * 2 {
                    group.addTask {
                        for _ in 0..<jobs / 2 { _ = try await rendered(plan, source, by: pool) }
                    }
                }
                try await group.waitForAll()
            }
            best = max(best, Double(jobs / 2 * workers * 2) / ((ContinuousClock.now - start) / .seconds(1)))
        }
        await pool.stop()
        return best
    }

    /// The processor time of one job in milliseconds, of this process and the workers together.
    private static func cost(
        of plan: RenderPlan, _ source: StoredBody, _ jobs: Int, by renderer: any ImageRendering, _ pool: WorkerPool
    ) async throws -> Double {
        let before = processorTime(pool)
        for _ in 0..<jobs { _ = try await rendered(plan, source, by: renderer) }
        return (processorTime(pool) - before) / Double(jobs) * 1_000
    }

    /// The median of many times from call to answer, in milliseconds.
    private static func latency(
        of plan: RenderPlan, _ source: StoredBody, _ jobs: Int, by renderer: any ImageRendering
    ) async throws -> Double {
        var times: [Double] = []
        for _ in 0..<jobs {
            let start = ContinuousClock.now
            _ = try await rendered(plan, source, by: renderer)
            times.append((ContinuousClock.now - start) / .milliseconds(1))
        }
        return median(times)
    }

    private static func rendered(
        _ plan: RenderPlan, _ source: StoredBody, by renderer: any ImageRendering
    ) async throws -> [UInt8] {
        let raw = unsafe linux_memfd_create("bench")
        let target = OwnedDescriptor(owning: raw)
        let rendition = try await renderer.render(plan, from: source, into: target, at: 0)
        var bytes = [UInt8](repeating: 0, count: rendition.byteCount)
        guard unsafe pread(raw, &bytes, bytes.count, 0) == bytes.count else { exit(1) }
        return bytes
    }

    private static func processorTime(_ pool: WorkerPool) -> Double {
        var times = [time(of: CLOCK_PROCESS_CPUTIME_ID)]
        for pid in pool.statistics.processIdentifiers {
            var clock = clockid_t()
            if unsafe clock_getcpuclockid(pid, &clock) == 0 { times.append(time(of: clock)) }
        }
        return times.reduce(0, +)
    }

    private static func time(of clock: clockid_t) -> Double {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func read(_ path: String) -> StoredBody? {
        let raw = unsafe linux_open(path, O_RDONLY | O_CLOEXEC, 0)
        guard raw >= 0 else { return nil }
        let length = lseek(raw, 0, SEEK_END)
        return .file(OwnedDescriptor(owning: raw), offset: 0, length: Int64(length))
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private static func shown(_ value: Double) -> String {
        "\((value * 1_000).rounded() / 1_000)"
    }
}
