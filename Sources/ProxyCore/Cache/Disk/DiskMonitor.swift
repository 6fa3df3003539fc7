// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Watches stores, and reports events. Safe from any thread.
final class DiskMonitor: Sendable {
    private let health = Mutex(DiskHealth())
    private let clock: @Sendable () -> Int64
    /// Reports an event, on the thread that detected it.
    let report: @Sendable (DiskEvent) -> Void

    init(clock: @escaping @Sendable () -> Int64, report: @escaping @Sendable (DiskEvent) -> Void) {
        self.clock = clock
        self.report = report
    }

    /// Records a store that failed.
    func failed(with error: DiskCacheError) {
        if let event = health.withLock({ $0.failed(with: error, at: clock()) }) { report(event) }
    }

    /// Records bytes that were stored.
    func stored(_ bytes: Int64) {
        if let event = health.withLock({ $0.stored(bytes, at: clock()) }) { report(event) }
    }

    /// Records that entries were removed for space.
    func freedSpace(_ bytes: Int64) { health.withLock { $0.freedSpace(bytes, at: clock()) } }

    /// Has folder and index examined: the folder may not be the one that was opened, or the index may be gone.
    func requestRecovery() { health.withLock { $0.mustRecover = true } }

    /// Whether folder and index need recovery, which is then tried.
    func takeRecovery() -> Bool {
        health.withLock { health in
            defer { health.mustRecover = false }
            return health.mustRecover
        }
    }

    /// Whether entries are to be removed now.
    var needsSpace: Bool { health.withLock(\.needsSpace) }

    /// Whether the writer has something to do about the tier's health.
    var needsWriter: Bool { health.withLock { $0.needsSpace || $0.mustRecover } }
}
