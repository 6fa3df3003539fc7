// SPDX-License-Identifier: Apache-2.0

/// Finds out whether a client that has ended its side while an answer is made for it still listens.
///
/// TCP shows that only when something is sent: the host of a client that has left answers with a reset. So the client is
/// sent what every response begins with, an octet at a time: the first at once, the next ones after pauses that double,
/// since a client that still listens may leave later. Whatever its version of HTTP, it waits for a status line. Inside a
/// body nothing can be sent ahead: the next octets of the body show it.
struct HalfCloseProbe {
    /// Whether the client has ended its side before its answer began.
    private(set) var isActive = false
    /// Octets of the awaited response's head that have been sent.
    private(set) var octetsSent = 0
    private var next: UInt64 = 0, pause: UInt64 = 0

    /// Begins with the first octet; false when it has begun before.
    mutating func start(pause: UInt64) -> Bool {
        guard !isActive else { return false }
        isActive = true
        self.pause = pause
        return true
    }

    /// Notes whether the client of a streamed body has ended its side: the body itself is what is sent.
    mutating func startStream(isHalfClosed: Bool) { isActive = isHalfClosed }

    /// Whether the time of the next octet has come.
    func isDue(at now: UInt64) -> Bool { isActive && now >= next }

    /// The next octet; nil when all have been sent, or while earlier output `isBlocked`, which shows as much.
    mutating func octet(at now: UInt64, isBlocked: Bool) -> UInt8? {
        next = now + pause
        guard !isBlocked, octetsSent < ResponseEncoder.beginning.utf8CodeUnitCount else { return nil }
        pause *= 2
        defer { octetsSent += 1 }
        return unsafe ResponseEncoder.beginning.utf8Start[octetsSent]
    }

    /// Hot path: how many octets of the head that is now queued have been sent before.
    mutating func takeOctetsSent() -> Int {
        defer { octetsSent = 0 }
        return octetsSent
    }
}
