// SPDX-License-Identifier: Apache-2.0

/// Finds out whether a half-closed client, for which an answer is being made, still reads.
///
/// TCP shows that only when something is sent: the host of a client that has closed answers with a reset. So
/// the client is sent the octets with which every response begins, one at a time: the first at once, the next
/// ones after pauses that double, since a client may close later. In either version of HTTP it waits for a
/// status line. Within a body nothing can be sent ahead: the next octets of the body serve as the probe.
struct HalfCloseProbe {
    /// Whether the client half-closed before its answer began.
    private(set) var isActive = false
    /// Octets of the awaited response's head that have been sent.
    private(set) var octetsSent = 0
    private var next: UInt64 = 0, pause: UInt64 = 0

    /// Starts with the first octet; false if it has started before.
    mutating func start(pause: UInt64) -> Bool {
        guard !isActive else { return false }
        isActive = true
        self.pause = pause
        return true
    }

    /// Records whether the client of a streamed body has half-closed: the body's own octets are the probe.
    mutating func startStream(isHalfClosed: Bool) { isActive = isHalfClosed }

    /// Whether the next octet is due.
    func isDue(at now: UInt64) -> Bool { isActive && now >= next }

    /// The next octet; nil when all have been sent, or while earlier output `isBlocked`, which is a probe
    /// itself.
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
