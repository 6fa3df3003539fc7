// SPDX-License-Identifier: Apache-2.0

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
    var mustReopen = false

    private var condition = Condition.working
    private var lastFailure = Int64.min
    private var lastFreed = Int64.min
    /// Half of the bytes that the last removal freed, less those stored since: other programs may use the rest.
    private var freedBytesLeft: Int64 = 0

    /// Seconds without a failure after which a successful store ends the alarm.
    static let secondsWithoutFailure: Int64 = 5
    /// Seconds after which entries are removed again although the freed bytes were not used by the tier.
    static let secondsBetweenRemovals: Int64 = 60

    /// Records a store that failed; returns an event if the state changes.
    mutating func failed(with error: DiskCacheError, at now: Int64) -> DiskEvent? {
        let earlier = condition
        switch error {
        case .full:
            condition = .full
            needsSpace = freedBytesLeft <= 0 || now - lastFreed >= Self.secondsBetweenRemovals
        case .brokenIndex, .system, .index, .unsupported, .locked:
            if case .brokenIndex = error { mustReopen = true }
            condition = .failing
        case .overloaded, .wouldBlock, .purged, .tooLarge, .closed, .invalid, .readOnlyFolder: return nil
        }
        lastFailure = now
        guard condition != earlier else { return nil }
        return condition == .full ? .full : .failing(error)
    }

    /// Records bytes that were stored; returns an event if the state changes.
    mutating func stored(_ bytes: Int64, at now: Int64) -> DiskEvent? {
        if freedBytesLeft > 0 { freedBytesLeft -= bytes }
        guard condition != .working, now - lastFailure >= Self.secondsWithoutFailure || now < lastFailure
        else { return nil }
        condition = .working
        return .working
    }

    /// Records that entries were removed for space.
    mutating func freedSpace(_ bytes: Int64, at now: Int64) {
        (needsSpace, freedBytesLeft, lastFreed) = (false, max(0, bytes / 2), now)
    }
}
