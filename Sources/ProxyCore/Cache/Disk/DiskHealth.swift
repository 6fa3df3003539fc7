// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// An event of the disk tier for the operator, reported once each time that it begins.
package enum DiskEvent: Sendable, Equatable {
    /// The disk is full: the oldest entries are removed, and what does not fit is served and not stored.
    case full
    /// Nothing can be stored, for this reason.
    case failing(DiskCacheError)
    /// Storing works again.
    case working
    /// The index could not be used or was missing: it is rebuilt from the files, the old one set aside.
    case indexReplaced
    /// The folder was missing or replaced: the tier starts anew in what is there now.
    case folderReplaced

    /// Whether an operator has to do something.
    package var isAlarm: Bool {
        switch self {
        case .full, .failing, .folderReplaced, .indexReplaced: true
        case .working: false
        }
    }
}

extension DiskEvent: CustomStringConvertible {
    /// One line for the log.
    package var description: String {
        switch self {
        case .full:
            "disk cache: the disk is full; the oldest entries are removed, what does not fit is served and not stored"
        case .failing(let error):
            "disk cache: can't store (\(error)); pictures are served from memory and the origin"
        case .working: "disk cache: stores again"
        case .indexReplaced: "disk cache: no index that can be used; it is being rebuilt from the files"
        case .folderReplaced: "disk cache: the folder was replaced; starting anew with the files in it"
        }
    }
}

/// Whether the disk tier can store, and what to report to an operator: one event a change, however many
/// stores fail.
///
/// Also decides when entries are removed on a full disk: again only after the space that the last removal
/// freed has been used, or after a while, so that another program that fills the disk does not evict
/// everything at once. Pure.
struct DiskHealth: Sendable {
    private enum Condition {
        case working
        case full
        case failing
    }

    /// Whether entries are to be removed now.
    private(set) var needsSpace = false
    /// Whether the folder or the index may have been removed or damaged.
    var mustRecover = false

    private var condition = Condition.working
    private var lastFailure = Int64.min
    private var lastFreed = Int64.min
    /// Half of the bytes that the last removal freed, less those stored since: other programs may use the rest.
    private var unused: Int64 = 0

    /// Seconds without a failure after which a successful store ends the alarm.
    static let calm: Int64 = 5
    /// Seconds after which entries are removed again although the freed bytes were not used by the tier.
    static let pause: Int64 = 60

    /// Records a store that failed; returns an event if the state changes.
    mutating func failed(with error: DiskCacheError, at now: Int64) -> DiskEvent? {
        let earlier = condition
        switch error {
        case .full:
            condition = .full
            needsSpace = unused <= 0 || now - lastFreed >= Self.pause
        case .brokenIndex, .system, .index, .unsupported, .locked:
            if case .brokenIndex = error { mustRecover = true }
            condition = .failing
        case .overloaded, .wouldBlock, .purged, .tooLarge, .closed, .invalid, .readOnlyFolder: return nil
        }
        lastFailure = now
        guard condition != earlier else { return nil }
        return condition == .full ? .full : .failing(error)
    }

    /// Records bytes that were stored; returns an event if the state changes.
    mutating func stored(_ bytes: Int64, at now: Int64) -> DiskEvent? {
        if unused > 0 { unused -= bytes }
        guard condition != .working, now - lastFailure >= Self.calm || now < lastFailure else { return nil }
        condition = .working
        return .working
    }

    /// Records that entries were removed for space.
    mutating func freedSpace(_ bytes: Int64, at now: Int64) {
        (needsSpace, unused, lastFreed) = (false, max(0, bytes / 2), now)
    }
}

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
