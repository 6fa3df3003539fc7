// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Watches over how storing goes, and tells whoever listens; safe from any thread.
final class DiskMonitor: Sendable {
    private let health = Mutex(DiskHealth())
    private let clock: @Sendable () -> Int64
    private let report: @Sendable (DiskNotice) -> Void

    /// - Parameter report: called on the thread that met the change.
    init(clock: @escaping @Sendable () -> Int64, report: @escaping @Sendable (DiskNotice) -> Void) {
        self.clock = clock
        self.report = report
    }

    /// Notes a store that failed.
    func failed(with error: DiskCacheError) {
        if let notice = health.withLock({ $0.failed(with: error, at: clock()) }) { report(notice) }
    }

    /// Notes bytes that were stored.
    func stored(_ bytes: Int64) {
        if let notice = health.withLock({ $0.stored(bytes, at: clock()) }) { report(notice) }
    }

    /// Notes that entries made room.
    func madeRoom(_ bytes: Int64) {
        health.withLock { $0.madeRoom(bytes, at: clock()) }
    }

    /// Notes that the folder is not the one that was opened.
    func lostFolder() {
        health.withLock { $0.lostFolder() }
    }

    /// Notes that recovery was tried.
    func recovered() {
        health.withLock { $0.recovered() }
    }

    /// Says something that is news whenever it happens.
    func tell(_ notice: DiskNotice) { report(notice) }

    /// Whether entries are to make room now.
    var wantsRoom: Bool { health.withLock(\.wantsRoom) }

    /// Whether folder and index have to be seen to.
    var wantsRecovery: Bool { health.withLock(\.wantsRecovery) }
}
