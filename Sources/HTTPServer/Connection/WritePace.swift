// SPDX-License-Identifier: Apache-2.0

/// Whether a client reads enough of an answer while its socket's buffer is full.
///
/// A client that reads nothing for one `writeTimeout` is too slow. One that reads something, and less than
/// the lowest rate gives for a `writeTimeout`, has another `writeTimeout` to catch up: TCP windows open in
/// steps of many kilobytes.
struct WritePace {
    /// When the lowest rate must have been reached, what the client had read when that period began, and
    /// whether it read too little in the period before.
    private var deadline: (at: UInt64, taken: Int, isLast: Bool) = (0, 0, false)
    /// What the client had read at the last check, and when that was last more than before.
    private var progress: (taken: Int, at: UInt64) = (0, 0)
    /// When the kernel is next queried for what the client has read.
    private var nextLook: UInt64 = 0

    /// How often the kernel is queried in one `writeTimeout`.
    private static let looks: UInt64 = 4

    /// Starts to count for a client that falls behind.
    mutating func start(taken: Int, at now: UInt64, _ times: LoopTimes) {
        deadline = (now + times.write, taken, false)
        progress = (taken, now)
        // At once: octets that are in transit now arrive without the client's doing.
        nextLook = now
    }

    /// Whether the client reads enough.
    /// - Parameter count: the octets that the client's host has received; called when a check is due.
    mutating func isFastEnough(at now: UInt64, _ times: LoopTimes, taken count: () -> Int) -> Bool {
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
