// SPDX-License-Identifier: Apache-2.0

/// One client's connection: reads requests in order, and answers them in order.
///
/// A state machine without socket, loop and clock: octets, ends, responses of tasks and the time are passed
/// to its methods, actions to a `ConnectionDriver`. The methods that begin a turn take the present time, so
/// that tests reach every deadline without waiting.
struct ConnectionStateMachine {
    private var now: UInt64
    private(set) var phase = ConnectionPhase.readingHead
    private var input: RequestReader
    private var output = ResponseSender()
    /// The request whose response a task makes.
    private var awaited: AwaitedAnswer?
    /// When the wait of the phase is over.
    private(set) var deadline: ConnectionDeadline
    /// Whether a request has been answered.
    private(set) var hasServed = false
    private var turn = ConnectionTurn()
    /// The number of answers when the head began that the deadline is for.
    private var headBegan: UInt64 = 0

    init(_ peer: PeerAddress, isRestricted: Bool, at now: UInt64, _ context: ConnectionContext) {
        self.now = now
        input = RequestReader(peer, isRestricted: isRestricted, context.configuration.limits)
        let time = isRestricted ? context.times.linger : context.times.header
        deadline = ConnectionDeadline(.header, at: now + time)
    }

    // MARK: - Input

    /// Whether a request can be read: not while the client waits for an answer, or does not read one.
    var takesInput: Bool {
        switch phase {
        case .readingHead, .readingContent: output.isEmpty
        case .closing: true
        case .awaitingAnswer, .streaming, .closed: false
        }
    }

    /// Whether the client has half-closed.
    var isHalfClosed: Bool { input.isHalfClosed }

    /// The client has half-closed; octets that it sent before may still be unread.
    mutating func halfClose() { input.halfClose() }
    /// The socket has no more to read.
    mutating func endInput() { input.end() }

    /// Hot path: consumes octets that have been received, and stores those of an incomplete request.
    mutating func receive(_ bytes: UnsafeRawBufferPointer, at now: UInt64, _ driver: some ConnectionDriver) {
        self.now = now
        guard input.isEmpty else { return unsafe input.store(bytes) }
        let count = unsafe consume(bytes, driver)
        if count < bytes.count { unsafe input.store(UnsafeRawBufferPointer(rebasing: bytes[count...])) }
        flushBatch(driver)
    }

    /// Resumes a streamed body that yielded to other connections, and consumes stored octets.
    /// - Returns: false if more of them can be consumed: other connections take their turn first.
    mutating func resume(at now: UInt64, _ driver: some ConnectionDriver) -> Bool {
        (self.now, turn) = (now, ConnectionTurn())
        if phase == .streaming, !output.isStreamWaiting, output.isEmpty { flushBatch(driver) }
        return consumeStored(driver)
    }

    /// Consumes stored octets, those of `maxPipelined` requests and of a turn's time at most.
    /// - Returns: false if more of them can be consumed: other connections take their turn first.
    mutating func consumeStored(_ driver: some ConnectionDriver) -> Bool {
        guard !input.isEmpty, takesInput else { return true }
        let count = unsafe input.stored.withUnsafeBytes { unsafe consume($0, driver) }
        input.remove(count)
        flushBatch(driver)
        return count == 0 || input.isEmpty || !takesInput
    }

    /// Hot path: reads and answers requests until the octets end or the queue is full; returns how many octets were consumed.
    private mutating func consume(_ bytes: UnsafeRawBufferPointer, _ driver: some ConnectionDriver) -> Int {
        var consumed = 0
        while consumed < bytes.count, !driver.context.isQueueFull {
            let left = unsafe UnsafeRawBufferPointer(rebasing: bytes[consumed...])
            var count = 0
            var response = HTTPResponse(status: .ok)
            let step: RequestReader.Step
            switch phase {
            case .readingHead:
                step = unsafe input.readHead(left, count: &count, at: now, into: &response, driver)
            case .readingContent:
                step = unsafe input.readContent(left, count: &count, into: &response, driver)
            case .closing, .closed: return bytes.count
            case .awaitingAnswer, .streaming: return consumed
            }
            switch step {
            case .needsMore: break
            case .content:
                guard phase == .readingHead else { break }
                phase = .readingContent
                deadline.start(.body, at: now, driver.context.times)
            case .response(let request): answer(request, with: response, driver)
            case .task(let awaited, let work):
                (phase, self.awaited) = (.awaitingAnswer, awaited)
                deadline.start(.answer, at: now, driver.context.times)
                driver.startTask(work, answerNumber: output.answers)
            case .refused(let request, let error): refuse(request, with: response, .init(error), driver)
            }
            guard count > 0 else { break }
            consumed += count
            if consumed < bytes.count, phase == .readingHead, turn.isOver(at: driver.time) { break }
        }
        return consumed
    }

    /// Handles the client's FIN, once all octets before it have been read; requests before it are answered.
    mutating func finishInput(_ driver: some ConnectionDriver) {
        guard input.hasEnded || input.isHalfClosed else { return }
        switch phase {
        case .closed: return
        case .awaitingAnswer, .streaming:
            let isAwaited = phase == .awaitingAnswer
            if output.startProbe(at: now, driver.context, isAwaited: isAwaited) { flush(driver) }
        case .readingHead, .readingContent, .closing:
            // Requests before the FIN are answered first, when the client has read its earlier answers.
            guard input.hasEnded, input.isEmpty || output.isEmpty else { return }
            if isInsideRequest { driver.reject(.incomplete) }
            closeBothSides(driver)
        }
    }

    /// Whether a part of a request has been received, and the rest has not.
    private var isInsideRequest: Bool {
        switch phase {
        case .readingHead: input.hasBegunHead
        case .readingContent: true
        case .awaitingAnswer, .streaming, .closing, .closed: false
        }
    }

    // MARK: - Answers

    /// Hot path: queues a response.
    private mutating func answer(
        _ request: AnsweredRequest, with response: HTTPResponse, _ driver: some ConnectionDriver
    ) {
        hasServed = true
        let context = driver.context
        // After the client's FIN this response is marked as the last one (RFC 9112 §9.6).
        let isLast = context.isDraining || input.mayBeLast && driver.isAtEndOfInput
        output.add(response, to: request, isLast: isLast, isHalfClosed: input.isHalfClosed, driver)
        guard output.isStreaming else { return phase = output.keepsAlive ? .readingHead : .closing }
        phase = .streaming
        deadline.start(.answer, at: now, context.times)
    }

    /// A task has returned its response; false if that is no longer awaited.
    mutating func deliver(
        _ response: HTTPResponse, answerNumber: UInt64, at now: UInt64, _ driver: some ConnectionDriver
    ) -> Bool {
        self.now = now
        guard let awaited, answerNumber == output.answers else { return false }
        self.awaited = nil
        driver.finishTask()
        input.noteUnconsumed()
        answer(awaited.request, with: response, driver)
        flushBatch(driver)
        return true
    }

    /// A streamed body has more bytes; false if nothing waits for them.
    mutating func wake(at now: UInt64, _ driver: some ConnectionDriver) -> Bool {
        self.now = now
        guard phase == .streaming, output.wake() else { return false }
        flushBatch(driver)
        return true
    }

    /// Refuses a request after which no other can be read.
    private mutating func refuse(
        _ request: AnsweredRequest, with response: HTTPResponse, _ reason: HTTPServer.RejectionReason,
        _ driver: some ConnectionDriver
    ) {
        driver.reject(reason)
        input.removeAll()
        answer(request, with: response, driver)
        flush(driver)
    }

    // MARK: - Output

    /// Whether the socket has taken all that was sent.
    var isOutputEmpty: Bool { output.isEmpty }

    /// Octets that the socket has taken and the client's host has not acknowledged.
    func unacknowledged(_ driver: some ConnectionDriver) -> Int { output.unacknowledged(driver) }

    /// The socket's buffer has free space again.
    mutating func writable(at now: UInt64, _ driver: some ConnectionDriver) {
        self.now = now
        if !output.isEmpty { flushBatch(driver) }
    }

    /// After a batch of requests: sends their answers, and starts the next deadline.
    private mutating func flushBatch(_ driver: some ConnectionDriver) {
        flush(driver)
        guard output.isEmpty else { return }
        switch phase {
        case .readingHead: driver.enlist()
        case .readingContent: return driver.enlist()
        case .awaitingAnswer, .streaming, .closing, .closed: return
        }
        let times = driver.context.times
        if input.isEmpty {
            if driver.context.isDraining { return deadline.startLastRequest(at: now, times) }
            deadline.start(hasServed ? .idle : .header, at: now, times)
        } else if deadline.kind != .header || headBegan != output.answers {
            deadline.start(.header, at: now, times)
            headBegan = output.answers
        }
    }

    /// Sends what can be sent, and continues with what follows.
    private mutating func flush(_ driver: some ConnectionDriver) {
        if phase == .closed { return }
        let wasBlocked = !output.isEmpty && !output.isStreaming
        let result = output.flush(at: now, driver)
        finishStream()
        switch result {
        case .failed: cut(driver)
        case .reset: reset(driver)
        case .broken:
            driver.reject(.brokenBody)
            cut(driver)
        case .blocked: return
        case .waiting: deadline.start(.answer, at: now, driver.context.times)
        case .sent:
            switch phase {
            // The client has read all answers: the deadline of its next request begins now.
            case .readingHead where wasBlocked: deadline.start(.idle, at: now, driver.context.times)
            case .readingContent where wasBlocked: deadline.start(.body, at: now, driver.context.times)
            case .closing: finishClosing(driver)
            case .readingHead, .readingContent, .awaitingAnswer, .streaming, .closed: return
            }
        }
    }

    /// Continues with the next request if all of a streamed body is queued.
    private mutating func finishStream() {
        if phase == .streaming, !output.isStreaming { phase = output.keepsAlive ? .readingHead : .closing }
    }

    // MARK: - Deadlines

    /// What the driver does after a deadline was checked.
    enum DeadlineResult {
        case done
        /// The input after the answer can be read.
        case resume
        /// The connection ends, unless a request has been received and not yet read.
        case endUnlessRequested
    }

    /// Handles each wait that is over. The driver calls it at each tick of its timer.
    mutating func checkDeadline(at now: UInt64, _ driver: some ConnectionDriver) -> DeadlineResult {
        self.now = now
        if output.isTooSlow(at: now, driver) {
            driver.reject(.writeTimeout)
            cut(driver)
        }
        if phase == .awaitingAnswer, output.continueProbe(at: now, driver.context) { flush(driver) }
        if isOver(driver) { close(driver) }
        guard now >= deadline.at else { return .done }
        switch (deadline.kind, phase) {
        case (_, .closed), (.answer, .readingHead), (.answer, .readingContent), (.answer, .closing): break
        case (.answer, .awaitingAnswer):
            guard let awaited else { break }
            self.awaited = nil
            driver.reject(.requestTimeout)
            driver.cancelTask()
            input.noteUnconsumed()
            answer(awaited.request, with: awaited.timedOut(), driver)
            flushBatch(driver)
            return .resume
        case (.answer, .streaming):
            guard output.isStreamWaiting else { break }
            driver.reject(.requestTimeout)
            cut(driver)
        // No wait for the client ends before it has read its answers.
        case _ where !output.isEmpty: break
        case (.idle, _), (.linger, _), (.acknowledgement, _): expire(driver)
        case (.lastRequest, _): return .endUnlessRequested
        case (.header, _) where !input.hasBegunHead:
            driver.reject(.headerTimeout)
            close(driver)
        case (.header, _), (.body, _):
            let request = input.timedOut(at: now, driver.context)
            let reason: HTTPServer.RejectionReason = deadline.kind == .body ? .bodyTimeout : .headerTimeout
            refuse(request, with: ServerProblem.response(408), reason, driver)
        }
        return .done
    }

    /// The wait of an idle or closing connection is over.
    private mutating func expire(_ driver: some ConnectionDriver) {
        let context = driver.context
        let left = output.unacknowledged(driver)
        switch deadline.expire(
            unacknowledged: left, isDraining: context.isDraining, at: now, context.times)
        {
        case .wait: return
        case .reset:
            driver.reject(.writeTimeout)
            driver.resetOnClose()
            close(driver)
        case .close: close(driver)
        }
    }

    /// The server drains: an idle connection has a short time for a last request, and a closing one has no
    /// more time than before.
    mutating func drain(at now: UInt64, _ driver: some ConnectionDriver) {
        self.now = now
        let times = driver.context.times
        switch (phase, deadline.kind) {
        case (.readingHead, _) where input.isEmpty && output.isEmpty:
            deadline.startLastRequest(at: now, times)
        case (.closing, .acknowledgement): deadline.start(.linger, at: now, times)
        case (.closing, .linger):
            deadline.shortenLinger(unacknowledged: output.unacknowledged(driver), at: now, times)
        default: return
        }
    }

    /// Ends the connection of a draining server, unless a request has been received.
    mutating func endUnlessRequested(_ driver: some ConnectionDriver) {
        guard phase == .readingHead, input.isEmpty, output.isEmpty else { return }
        phase = .closing
        finishClosing(driver)
    }

    // MARK: - The end

    /// The last response has been sent: half-closes, and waits for the client's FIN and until its host has
    /// received everything. A request that is received now is not answered, and its client sees an orderly
    /// end, not a reset (RFC 9112 §9.6): octets received after close(2) would reset the connection, and the
    /// client would lose what it has not read.
    private mutating func finishClosing(_ driver: some ConnectionDriver) {
        guard !output.hasFinished else { return }
        guard !input.hasEnded || output.unacknowledged(driver) > 0 else { return close(driver) }
        output.finish(driver)
        let context = driver.context
        deadline.startLinger(
            unacknowledged: output.unacknowledged(driver), isDraining: context.isDraining, at: now,
            context.times)
        driver.enlist()
    }

    /// The client has half-closed as well. The connection stays until its host has received everything.
    private mutating func closeBothSides(_ driver: some ConnectionDriver) {
        input.end()
        phase = .closing
        guard output.isEmpty else { return }
        guard output.unacknowledged(driver) > 0 else { return close(driver) }
        finishClosing(driver)
    }

    /// Whether the client's host has received everything, and the client has half-closed, or had time to.
    private func isOver(_ driver: some ConnectionDriver) -> Bool {
        phase == .closing && output.hasFinished && (input.hasEnded || deadline.kind == .acknowledgement)
            && output.unacknowledged(driver) == 0
    }

    /// The socket is closed in both directions.
    mutating func bothSidesClosed(at now: UInt64, _ driver: some ConnectionDriver) {
        self.now = now
        if output.hasFinished { closeBothSides(driver) } else { cut(driver) }
    }

    /// The client has reset the connection. A client that had half-closed before is not counted.
    mutating func reset(_ driver: some ConnectionDriver) {
        if !output.isProbing { driver.reject(.reset) }
        cut(driver)
    }

    /// Closes the connection, and cancels the task that the client waits for.
    mutating func cut(_ driver: some ConnectionDriver) {
        if phase == .closed { return }
        output.cut(isClosing: phase == .closing, driver)
        if let awaited {
            self.awaited = nil
            driver.cancelTask()
            var exchange = awaited.abandoned(loop: driver.context.loop)
            driver.report(&exchange)
        }
        close(driver)
    }

    private mutating func close(_ driver: some ConnectionDriver) {
        if phase == .closed { return }
        phase = .closed
        driver.close()
    }
}
