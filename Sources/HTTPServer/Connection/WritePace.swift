// SPDX-License-Identifier: Apache-2.0

/// Whether a client that is behind takes its answers fast enough. Pure; times are nanoseconds of one clock.
///
/// One that takes nothing for a write timeout is too slow. One that takes something, and less than the lowest rate makes of a
/// write timeout, has the next one to make up for it: windows open in steps of many kilobytes.
struct WritePace {
    /// When enough must have been taken, what had been taken when the count began, and whether this is the second time.
    private var deadline: (at: UInt64, taken: Int, isLast: Bool)
    /// What had been taken at the last look, and when that was last more than before.
    private var progress: (taken: Int, at: UInt64)
    /// When it is to be looked at again: asking the kernel costs a call.
    private var lookAt: UInt64

    /// So many times a write timeout is looked at.
    private static let looks: UInt64 = 4

    /// Begins when the socket takes no more; `taken` is what has reached the client's host by then.
    init(at now: UInt64, taken: Int, timeout: UInt64) {
        deadline = (now + timeout, taken, false)
        progress = (taken, now)
        // Soon: what is on its way now arrives without the client's doing.
        lookAt = now
    }

    /// Whether the client may go on.
    /// - Parameters:
    ///   - taken: bytes that have reached the client's host; asked only when it is time to look.
    ///   - least: bytes to be taken within `timeout`.
    mutating func isKept(at now: UInt64, taken: () -> Int, timeout: UInt64, least: Int) -> Bool {
        guard now >= lookAt else { return true }
        lookAt = now + timeout / Self.looks
        let taken = taken()
        if taken > progress.taken {
            progress = (taken, now)
        } else if now >= progress.at + timeout {
            return false
        }
        guard now >= deadline.at else { return true }
        guard taken - deadline.taken < least else {
            deadline = (now + timeout, taken, false)
            return true
        }
        defer { deadline = (now + timeout, deadline.taken, true) }
        return !deadline.isLast
    }
}
