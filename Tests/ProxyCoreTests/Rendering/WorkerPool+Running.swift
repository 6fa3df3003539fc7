// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import ProxyCore

extension WorkerPool {
    /// Lends a running pool of one worker that has patience, unless `change` says otherwise, and stops it in the end.
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
}
