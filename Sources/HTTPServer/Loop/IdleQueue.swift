// SPDX-License-Identifier: Apache-2.0

/// Connections that may be idle, in the order in which they were added; those that have ended are removed
/// later.
///
/// Its owner adds each once at most, so that an idle one is found without a search among busy ones.
struct IdleQueue {
    private var numbers: [UInt64] = []
    private var first = 0

    /// The number of connections, including those that have ended.
    var count: Int { numbers.count - first }

    /// Appends a connection.
    ///
    /// - Parameters:
    ///   - living: how many connections there are.
    ///   - isAlive: called for all in the queue when it contains far more than that.
    mutating func append(_ number: UInt64, living: Int, where isAlive: (UInt64) -> Bool) {
        if count > 2 * living + Self.slack {
            numbers = numbers[first...].filter(isAlive)
            first = 0
        }
        numbers.append(number)
    }

    /// The number of ended connections that are tolerated.
    private static let slack = 64

    /// Removes the first one.
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
