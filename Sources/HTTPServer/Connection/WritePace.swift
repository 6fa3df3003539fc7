// SPDX-License-Identifier: Apache-2.0

/// Whether a client takes enough of an answer while its socket's buffer is full.
///
/// A client that takes nothing for one `writeTimeout` is too slow. One that takes something, and less than the lowest rate
/// makes of a `writeTimeout`, has another one to catch up: windows open in steps of many kilobytes.
struct WritePace {
    /// When the lowest rate must have been reached, what the client had taken when that time began, and whether it took too
    /// little in the time before.
    private var deadline: (at: UInt64, taken: Int, isLast: Bool) = (0, 0, false)
    /// What the client had taken when that was last looked at, and when it was last more than before.
    private var progress: (taken: Int, at: UInt64) = (0, 0)
    /// When the kernel is asked again what the client has taken.
    private var nextLook: UInt64 = 0

    /// How often the kernel is asked in one `writeTimeout`.
    private static let looks: UInt64 = 4

    /// Begins to count for a client that falls behind.
    mutating func start(taken: Int, at now: UInt64, _ times: LoopTimes) {
        deadline = (now + times.write, taken, false)
        progress = (taken, now)
        // At once: what is on its way now arrives without the client's doing.
        nextLook = now
    }

    /// Whether the client takes enough.
    /// - Parameter count: the octets that have reached the client's host; called when it is time to look.
    mutating func isKept(at now: UInt64, _ times: LoopTimes, taken count: () -> Int) -> Bool {
        guard now >= nextLook else { return true }
        let taken = count()
        if taken > progress.taken {
            progress = (taken, now)
        } else if now >= progress.at + times.write {
            return false
        }
        if now >= deadline.at {
            let isEnough = taken - deadline.taken >= times.leastTaken
            guard isEnough || !deadline.isLast else { return false }
            deadline = (now + times.write, isEnough ? taken : deadline.taken, !isEnough)
        }
        nextLook = min(now + times.write / Self.looks, progress.at + times.write, deadline.at)
        return true
    }
}
