// SPDX-License-Identifier: Apache-2.0

/// Whether the disk tier can store, and what is worth telling an operator: one notice a change, however many stores fail.
///
/// Also decides when entries have to make room on a full disk: again only after what the last time freed has been used,
/// or a while later, so that another program that fills the disk does not drive out everything at once. Pure.
struct DiskHealth: Sendable {
    private enum Condition {
        case working
        case full
        case failing
    }

    /// Whether entries are to make room now.
    private(set) var wantsRoom = false
    /// Whether the folder or the index may have been taken away or damaged.
    private(set) var wantsRecovery = false

    private var condition = Condition.working
    private var lastFailure = Int64.min
    private var lastRoom = Int64.min
    /// Bytes that were freed the last time, less those stored since.
    private var unused: Int64 = 0

    /// Seconds without a failure after which a store that succeeds means that all is well.
    static let calm: Int64 = 5
    /// Seconds after which entries make room again although what they freed was of no use to us.
    static let pause: Int64 = 60

    /// Notes a store that failed; a notice when that is news.
    mutating func failed(with error: DiskCacheError, at now: Int64) -> DiskNotice? {
        let earlier = condition
        switch error {
        case .full:
            condition = .full
            wantsRoom = unused <= 0 || now - lastRoom >= Self.pause
        case .brokenIndex, .system, .index, .unsupported, .locked:
            if case .brokenIndex = error { wantsRecovery = true }
            condition = .failing
        case .overloaded, .purged, .tooLarge, .closed, .invalid, .readOnlyFolder: return nil
        }
        lastFailure = now
        guard condition != earlier else { return nil }
        return condition == .full ? .full : .failing(error)
    }

    /// Notes bytes that were stored; a notice when that is news.
    mutating func stored(_ bytes: Int64, at now: Int64) -> DiskNotice? {
        if unused > 0 { unused -= bytes }
        guard condition != .working, now - lastFailure >= Self.calm || now < lastFailure else { return nil }
        condition = .working
        return .working
    }

    /// Notes that entries made room.
    mutating func madeRoom(_ bytes: Int64, at now: Int64) {
        (wantsRoom, unused, lastRoom) = (false, max(0, bytes / 2), now)
    }

    /// Notes that the folder is not the one that was opened.
    mutating func lostFolder() { wantsRecovery = true }

    /// Notes that folder and index are in order again, or that it was tried.
    mutating func recovered() { wantsRecovery = false }
}
