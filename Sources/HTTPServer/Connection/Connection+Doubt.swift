// SPDX-License-Identifier: Apache-2.0

/// Clients that end their side of a connection while an answer is made for them: they have left, or still listen.
///
/// TCP tells the two apart only when something is sent: the host of who has left answers with a reset. So a client of HTTP/1.1
/// that waits is sent an interim response, which it has to skip (RFC 9110 §15.2). To one of HTTP/1.0 none may be sent, and
/// none can be inside a body: they are given `closeTimeout` for the next bytes of their answer.
extension Connection {
    /// The client has ended its side; said once.
    func doubtListener() {
        guard !mayStillListen else { return }
        mayStillListen = true
        switch phase {
        case .awaitingAnswer(let awaited): probe(awaited.head)
        case .streaming(let stream) where stream.isWaiting: deadline = (.answer, loop.now + patience)
        case .streaming, .readingHead, .readingContent, .closing, .closed: return
        }
    }

    /// Asks once more, for whoever ended its side first and left later.
    func probeAgain() {
        guard mayStillListen, loop.now >= nextProbe, case .awaitingAnswer(let awaited) = phase else { return }
        probe(awaited.head)
    }

    /// How long a body may bring nothing.
    var patience: UInt64 { mayStillListen ? loop.times.linger : loop.times.request }

    private func probe(_ head: AnsweredHead) {
        nextProbe = loop.now + loop.times.linger
        guard !head.isHTTP10 else { return deadline = (.answer, min(deadline.at, nextProbe)) }
        // What is still on its way does the same.
        guard pending.isEmpty else { return }
        loop.outbox.appendHead { ResponseEncoder.append("HTTP/1.1 100 Continue\r\n\r\n", to: &$0) }
        flush()
    }
}
