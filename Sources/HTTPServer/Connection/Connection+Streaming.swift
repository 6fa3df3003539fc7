// SPDX-License-Identifier: Apache-2.0

/// Bodies that arrive over time: asked for the next piece whenever all that was there has left.
///
/// So a connection holds one piece at most, a slow client slows nobody but itself, and the clock for slow clients runs
/// only while there is something that this client does not take.
extension Connection {
    /// Begins an answer whose body arrives over time, with what of it is there already.
    func answer(
        _ head: AnsweredHead, with response: HTTPResponse, streaming body: any HTTPBodyStream, length: Int?
    ) {
        let framing = length.map(ResponseFraming.length) ?? (head.isHTTP10 ? .untilClose : .chunked)
        let keepsAlive =
            head.keepsAlive && !response.closesConnection && !loop.isDraining && !isLastRequest
            && framing != .untilClose
        let stream = OutgoingStream(
            body, framing: framing, keepsAlive: keepsAlive, exchange: exchange(head, response)
        ) { [inbox = loop.inbox, number] in inbox.post(.wake(connection: number)) }
        let hasBody = head.method != .head && !response.status.forbidsBody
        let first = hasBody && length != 0 ? stream.next() : .nothingYet
        guard stream.mayBeFollowed(by: first) else {
            return answer(head, with: Self.failure(in: response, of: body))
        }
        reclaimPending()
        answered += 1
        hasServed = true
        loop.outbox.append(
            response, head.frame(framing, keepsAlive: keepsAlive), by: loop.encoder, from: headOctetsSent)
        headOctetsSent = 0
        guard hasBody, length != 0 else { return finish(stream) }
        phase = .streaming(stream)
        mayStillListen = peerHasFinished
        endsByClose = framing == .untilClose
        deadline = (.answer, loop.now + loop.times.request)
        take(first, of: stream)
    }

    /// Nothing has been sent yet, so there is still time to say what has happened.
    private static func failure(in response: HTTPResponse, of body: any HTTPBodyStream) -> HTTPResponse {
        if let replacement = body.replacement {
            // Another one that might break would not help.
            guard case .stream = replacement.body else { return replacement }
        }
        var failure = ServerProblem.response(502)
        failure.context = response.context
        failure.note = response.note
        return failure
    }

    /// The body has more to say.
    func wake() {
        guard case .streaming(let stream) = phase, stream.isWaiting else { return }
        stream.isWaiting = false
        settle()
        proceed()
    }

    /// All that was there has left: asks for more; false when there is nothing to send now.
    func goOn(_ stream: OutgoingStream, piece number: Int) -> Bool {
        stream.noteDeparture()
        guard !stream.isWaiting else { return false }
        guard number < OutgoingStream.piecesPerTurn else {
            loop.postpone(self)
            return false
        }
        let step = stream.next()
        guard stream.mayBeFollowed(by: step) else {
            breakOff()
            return false
        }
        take(step, of: stream)
        return !stream.isWaiting
    }

    private func take(_ step: HTTPBodyStep, of stream: OutgoingStream) {
        switch step {
        case .piece(let piece): append(piece, of: stream)
        case .nothingYet:
            stream.isWaiting = true
            deadline = (.answer, loop.now + loop.times.request)
        case .end: end(stream)
        // Looked at before.
        case .broken: return
        }
    }

    private func append(_ piece: HTTPBody, of stream: OutgoingStream) {
        if stream.framing == .chunked {
            loop.outbox.appendHead { ResponseEncoder.appendChunkLine(piece.count, to: &$0) }
        }
        let start = loop.outbox.bytesAdded
        loop.outbox.append(piece)
        stream.note(start..<loop.outbox.bytesAdded)
        if stream.framing == .chunked { loop.outbox.appendHead { ResponseEncoder.append("\r\n", to: &$0) } }
        if stream.missing == 0 { finish(stream) }
    }

    private func end(_ stream: OutgoingStream) {
        if stream.framing == .chunked {
            loop.outbox.appendHead { ResponseEncoder.append("0\r\n\r\n", to: &$0) }
        }
        finish(stream)
    }

    /// With what is in the outbox the answer is whole.
    private func finish(_ stream: OutgoingStream) {
        loop.outbox.finish(stream.exchange(cutAt: nil))
        phase = stream.keepsAlive ? .readingHead : .closing
    }

    /// The rest will never come: the connection ends before the body does.
    private func breakOff() {
        loop.reject(.brokenBody)
        cut()
    }

    /// Lets close(2) break the connection off where its orderly end would look like that of the body, and where the kernel
    /// would go on offering what the client does not take.
    func resetUnlessWhole() {
        guard endsByClose || !pending.isEmpty else { return }
        if case .closing = phase, pending.isEmpty { return }
        resetOnClose()
    }
}
