// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import ProxyCore

extension WorkerPool {
    /// Lends a running pool of one worker with long times, unless `change` says otherwise, and stops it in
    /// the end.
    static func running(
        _ change: (inout TransformConfiguration) -> Void = { _ in }, _ body: (WorkerPool) async throws -> Void
    ) async throws {
        var configuration = TransformConfiguration()
        configuration.workers = 1
        configuration.timeout = .minutes(1)
        configuration.queueTimeout = .minutes(1)
        change(&configuration)
        let pool = WorkerPool(configuration: configuration, executable: DaemonProcess.executable)
        try await pool.start()
        do { try await body(pool) } catch {
            await pool.stop()
            throw error
        }
        await pool.stop()
        #expect(pool.statistics.processIdentifiers.isEmpty)
    }

    /// Starts a job, and returns when it is running; again if jobs wait for less time than a busy machine
    /// takes for that.
    func begin(
        _ work: @escaping @Sendable () async throws -> Rendition, until isUnderWay: (Statistics) -> Bool
    ) async throws -> Task<Rendition, any Error> {
        while true {
            let hasEnded = Observed(false)
            let job = Task {
                defer { hasEnded.update { $0 = true } }
                return try await work()
            }
            while !isUnderWay(statistics), !hasEnded.value { await Task.yield() }
            guard hasEnded.value else { return job }
            do { _ = try await job.value } catch RenderError.queueTimedOut {}
        }
    }
}
