// SPDX-License-Identifier: Apache-2.0

/// The output of a connection: queues responses, and sends them as the socket takes them.
///
/// It takes the next piece of a streamed body when all octets before that have been sent. So a connection
/// holds at most one piece, a slow client slows no other, and the timeout of slow clients runs only while
/// there are octets for this client.
struct ResponseSender {
    /// The result of an attempt to send everything.
    enum Flush {
        /// All that is queued is sent. A streamed body may have more: its turn is over, or it had no piece
        /// before either.
        case sent
        /// All before it is sent, and the streamed body has just been found to have no piece.
        case waiting
        /// The socket's buffer is full.
        case blocked
        /// The streamed body can't be completed.
        case broken
        case reset, failed
    }

    /// Whether the connection persists after the last response.
    private(set) var keepsAlive = true
    /// The number of responses so far, by which a response that comes too late is recognized.
    private(set) var answers: UInt64 = 0
    /// Whether this side of the connection has been half-closed.
    private(set) var hasFinished = false
    /// What the socket has not taken; empty unless the client is slow.
    private var unsent = SendQueue()
    private var pace = WritePace()
    private var probe = HalfCloseProbe()
    private var stream: StreamedBody?
    /// Whether the end of the last response is the end of the connection.
    private var endsByClose = false

    /// Whether the socket has taken all that was sent.
    var isEmpty: Bool { unsent.isEmpty }

    /// Whether a response's body is still being received.
    var isStreaming: Bool { stream != nil }

    /// Whether the streamed body has no piece yet.
    var isStreamWaiting: Bool { stream?.isWaiting ?? false }

    /// Whether the client half-closed before its answer began, so that a reset is not counted.
    var isProbing: Bool { probe.isActive }

    /// Octets that the socket has taken and the client's host has not acknowledged.
    func unacknowledged(_ driver: some ConnectionDriver) -> Int {
        max(0, driver.unacknowledgedOctets - (hasFinished ? 1 : 0))
    }

    // MARK: - Queueing

    /// Hot path: queues a response.
    /// - Parameters:
    ///   - isLast: whether no further request is answered, whatever request and response say.
    ///   - isHalfClosed: whether the client has ended its side.
    mutating func add(
        _ response: HTTPResponse, to request: AnsweredRequest, isLast: Bool, isHalfClosed: Bool,
        _ driver: some ConnectionDriver
    ) {
        keepsAlive = request.keepsAlive && !response.closesConnection && !isLast
        guard case .stream(let body, let length) = response.body else {
            return add(response, to: request, driver.context)
        }
        let stream = StreamedBody(body, of: response, to: request, length: length, driver)
        let step = request.hasContent(response) && length != 0 ? stream.next() : nil
        if case .broken = step {
            // Nothing has been sent yet.
            let replacement = StreamedBody.replacement(of: response, body)
            return add(replacement, to: request, isLast: isLast, isHalfClosed: isHalfClosed, driver)
        }
        if stream.framing == .untilClose { keepsAlive = false }
        addHead(response, to: request, stream.framing, driver.context)
        self.stream = stream
        if let step {
            probe.startStream(isHalfClosed: isHalfClosed)
            endsByClose = stream.framing == .untilClose
            add(step, of: stream, driver.context)
        } else {
            finish(stream, driver.context)
        }
    }

    /// Hot path: queues a response whose content is complete.
    @inline(__always)
    private mutating func add(
        _ response: HTTPResponse, to request: AnsweredRequest, _ context: ConnectionContext
    ) {
        let hasContent = request.hasContent(response)
        addHead(response, to: request, .length(response.body.count), context)
        if hasContent { context.queue.append(response.body) }
        context.queue.finish(id: request.id) {
            $0.fill(of: request, response, octets: hasContent ? response.body.count : 0, loop: context.loop)
        }
    }

    @inline(__always)
    private mutating func addHead(
        _ response: HTTPResponse, to request: AnsweredRequest, _ framing: ResponseFraming,
        _ context: ConnectionContext
    ) {
        // What the socket has not taken goes first. Between the turns of two connections the loop's queue is
        // empty.
        if !unsent.isEmpty { swap(&unsent, &context.queue) }
        answers += 1
        context.queue.append(
            response, request.frame(framing, keepsAlive: keepsAlive), by: context.encoder,
            from: probe.takeOctetsSent())
    }

    private mutating func add(_ step: HTTPBodyStep, of stream: StreamedBody, _ context: ConnectionContext) {
        switch step {
        case .piece(let piece):
            if stream.framing == .chunked {
                context.queue.appendHead { ResponseEncoder.appendChunkLine(piece.count, to: &$0) }
            }
            let start = context.queue.octetsAdded
            context.queue.append(piece)
            stream.note(start..<context.queue.octetsAdded)
            if stream.framing == .chunked {
                context.queue.appendHead { ResponseEncoder.append("\r\n", to: &$0) }
            }
            if stream.isComplete { finish(stream, context) }
        case .nothingYet: stream.wait()
        case .end:
            if stream.framing == .chunked {
                context.queue.appendHead { ResponseEncoder.append("0\r\n\r\n", to: &$0) }
            }
            finish(stream, context)
        // The callers have checked for it.
        case .broken: return
        }
    }

    /// With what is queued the response is complete.
    private mutating func finish(_ stream: StreamedBody, _ context: ConnectionContext) {
        context.queue.finish(stream.exchange(cutAt: nil))
        self.stream = nil
    }

    /// Resumes a streamed body that had no bytes; false if nothing waited for it.
    func wake() -> Bool { stream?.resume() ?? false }

    // MARK: - Sending

    /// Sends what can be sent, and the pieces of a streamed body that follow.
    mutating func flush(at now: UInt64, _ driver: some ConnectionDriver) -> Flush {
        var pieces = 0
        while true {
            let wasBlocked = !unsent.isEmpty
            switch send(driver) {
            case .failed: return .failed
            case .reset: return .reset
            case .blocked:
                if !wasBlocked {
                    pace.start(
                        taken: unsent.octetsSent - unacknowledged(driver), at: now, driver.context.times)
                }
                return .blocked
            case .done: break
            }
            guard let stream else { return .sent }
            stream.noteSent()
            guard !stream.isWaiting else { return .sent }
            guard pieces < StreamedBody.piecesPerTurn else {
                driver.postpone()
                return .sent
            }
            pieces += 1
            let step = stream.next()
            if case .broken = step { return .broken }
            add(step, of: stream, driver.context)
            if stream.isWaiting { return .waiting }
        }
    }

    /// Hot path: empties the connection's own queue if there is one, then the loop's.
    private mutating func send(_ driver: some ConnectionDriver) -> SendQueue.Progress {
        guard unsent.isEmpty else {
            let progress = unsent.send(to: driver)
            unsent.reportSent(to: driver)
            if progress == .done { unsent = SendQueue() }
            return progress
        }
        let context = driver.context
        guard !context.queue.isEmpty || context.queue.answers > 0 else { return .done }
        let progress = context.queue.send(to: driver)
        context.queue.reportSent(to: driver)
        if progress == .done {
            context.queue.reset()
        } else {
            swap(&unsent, &context.queue)
        }
        return progress
    }

    /// Whether the client reads below the lowest rate. What the client's host has acknowledged counts, since
    /// a socket takes many octets at a time, and seldom.
    mutating func isTooSlow(at now: UInt64, _ driver: some ConnectionDriver) -> Bool {
        guard !unsent.isEmpty else { return false }
        let (sent, hasFinished) = (unsent.octetsSent, hasFinished)
        return !pace.isFastEnough(at: now, driver.context.times) {
            sent - max(0, driver.unacknowledgedOctets - (hasFinished ? 1 : 0))
        }
    }

    // MARK: - Half-closed clients

    /// Starts to find out whether a half-closed client still reads.
    /// - Parameter isAwaited: whether the response has not begun; else the octets of its body show it.
    /// - Returns: whether there is an octet to send.
    mutating func startProbe(at now: UInt64, _ context: ConnectionContext, isAwaited: Bool) -> Bool {
        guard probe.start(pause: context.times.linger), isAwaited else { return false }
        return addProbe(at: now, context)
    }

    /// Queues one more octet when it is due; false if there is none to send.
    mutating func continueProbe(at now: UInt64, _ context: ConnectionContext) -> Bool {
        probe.isDue(at: now) && addProbe(at: now, context)
    }

    private mutating func addProbe(at now: UInt64, _ context: ConnectionContext) -> Bool {
        guard let octet = probe.octet(at: now, isBlocked: !unsent.isEmpty) else { return false }
        context.queue.appendHead { $0.append(octet) }
        return true
    }

    // MARK: - The end

    /// Ends this side of the connection, in order.
    mutating func finish(_ driver: some ConnectionDriver) {
        driver.finishSending()
        hasFinished = true
    }

    /// Reports the responses that are not sent completely. The connection is reset if its orderly end would
    /// look like the end of the body, and if the kernel would keep what the client does not read.
    /// - Parameter isClosing: whether no further answer is made.
    mutating func cut(isClosing: Bool, _ driver: some ConnectionDriver) {
        if !unsent.isEmpty || endsByClose && !isClosing { driver.resetOnClose() }
        unsent.reportUnsent(to: driver)
        guard let stream else { return }
        var exchange = stream.exchange(cutAt: unsent.isEmpty ? 0 : unsent.octetsSent)
        driver.report(&exchange)
        self.stream = nil
    }
}
