// SPDX-License-Identifier: Apache-2.0

/// The time in which a connection's requests are answered one after the other, before other connections have their turn: a
/// few requests may take as long as hundreds of others.
struct ConnectionTurn {
    /// When it is over, in nanoseconds; 0 until a request has been answered.
    private var end: UInt64 = 0

    /// The time from the end of the first request on, in nanoseconds.
    private static let length: UInt64 = 1_000_000

    /// Whether the next request has to wait; called after each one.
    mutating func isOver(at time: UInt64) -> Bool {
        if end == 0 { end = time + Self.length }
        return time > end
    }
}
