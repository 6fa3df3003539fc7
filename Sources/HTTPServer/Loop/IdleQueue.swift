// SPDX-License-Identifier: Apache-2.0

/// Connections that may be idle, the one that has been here longest first; those that have ended are found out later.
///
/// Each is in it once at most, which its owner sees to, so that to find an idle one takes no search among busy ones.
struct IdleQueue {
    private var numbers: [UInt64] = []
    private var first = 0

    /// How many there are, with those that have ended.
    var count: Int { numbers.count - first }

    /// Adds one behind all others.
    ///
    /// - Parameters:
    ///   - living: how many connections there are.
    ///   - isAlive: asked of all in the queue when far more are in it.
    mutating func append(_ number: UInt64, living: Int, where isAlive: (UInt64) -> Bool) {
        if count > 2 * living + Self.slack {
            numbers = numbers[first...].filter(isAlive)
            first = 0
        }
        numbers.append(number)
    }

    /// So many that have ended are of no account.
    private static let slack = 64

    /// Takes the first one out.
    mutating func popFirst() -> UInt64? {
        guard first < numbers.count else { return nil }
        defer {
            first += 1
            if first > Self.slack, first > numbers.count / 2 {
                numbers.removeFirst(first)
                first = 0
            }
        }
        return numbers[first]
    }
}
