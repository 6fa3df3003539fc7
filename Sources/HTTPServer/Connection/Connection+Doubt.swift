// SPDX-License-Identifier: Apache-2.0

/// Clients that end their side of a connection while an answer is made for them: they have left, or still listen.
///
/// TCP tells the two apart only when something is sent: the host of a client that has left answers with a reset. So such a
/// client is sent what every answer begins with, an octet at a time: the first one at once, the next ones after pauses that
/// double, since a client that still listens may leave later. In whatever version of HTTP it asks, it is a client that
/// waits for the rest of a status line. Inside a body nothing can be sent ahead: the next bytes of the body tell.
extension Connection {
    /// The client has ended its side; said once.
    func doubtListener() {
        guard !mayStillListen else { return }
        mayStillListen = true
        probePause = loop.times.linger
        if case .awaitingAnswer = phase { probe() }
    }

    /// Sends one more octet when its time has come.
    func probeAgain() {
        guard mayStillListen, loop.now >= nextProbe, case .awaitingAnswer = phase else { return }
        probe()
    }

    private func probe() {
        nextProbe = loop.now + probePause
        // What is still on its way does the same.
        guard pending.isEmpty, headOctetsSent < ResponseEncoder.beginning.utf8CodeUnitCount else { return }
        probePause *= 2
        let octet = unsafe ResponseEncoder.beginning.utf8Start[headOctetsSent]
        loop.outbox.appendHead { $0.append(octet) }
        headOctetsSent += 1
        flush()
    }
}
