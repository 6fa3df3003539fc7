// SPDX-License-Identifier: Apache-2.0

extension Connection {
    /// Whether there are too many connections for this request, which is then refused, whatever follows its head.
    func turnsAway(_ request: HTTPRequest) -> Bool {
        guard isRestricted, !loop.handler.isVital(request) else { return false }
        loop.reject(.overload)
        answer(self.head(of: request), with: ServerProblem.overload)
        return true
    }

    /// Hot path: what the answer to a request needs to know of it.
    @inline(__always)
    private func head(of request: HTTPRequest, keepsAlive: Bool = false) -> AnsweredHead {
        AnsweredHead(
            method: request.method, isHTTP10: request.isHTTP10, keepsAlive: keepsAlive,
            receivedAt: request.receivedAt, id: loop.id(of: request), traceID: request.traceID,
            client: request.client)
    }

    /// Hot path: asks the handler; the request knows its client.
    func answer(_ request: HTTPRequest, _ framing: RequestFraming) {
        let head = head(of: request, keepsAlive: framing.keepsAlive && !isRestricted)
        var response = HTTPResponse(status: .ok)
        if loop.handler.answersAtOnce(request, with: &response) { return answer(head, with: response) }
        switch loop.handler.answer(request) {
        case .now(let response): answer(head, with: response)
        case .later(let context, let note, _) where isRestricted && !loop.mayAwaitVital:
            loop.reject(.overload)
            var response = ServerProblem.overload
            (response.context, response.note) = (context, note)
            answer(head, with: response)
        case .later(let context, let note, let work):
            let (inbox, number, sequence) = (loop.inbox, number, answered)
            let task = Task {
                let response = await work()
                inbox.post(.answer(connection: number, sequence: sequence, response))
            }
            phase = .awaitingAnswer(Awaited(head: head, context: context, note: note, task: task))
            loop.awaited += 1
            deadline = (.answer, loop.now + loop.times.request)
        }
    }

    /// Hot path: puts an answer into the loop's outbox.
    func answer(_ head: AnsweredHead, with response: HTTPResponse) {
        if case .stream(let body, let length) = response.body {
            return answer(head, with: response, streaming: body, length: length)
        }
        reclaimPending()
        answered += 1
        hasServed = true
        let keepsAlive =
            head.keepsAlive && !response.closesConnection && !loop.isDraining && !isLastRequest
        let hasBody = head.method != .head && !response.status.forbidsBody
        loop.outbox.append(
            response, head.frame(.length(response.body.count), keepsAlive: keepsAlive), by: loop.encoder,
            from: headOctetsSent)
        headOctetsSent = 0
        if hasBody { loop.outbox.append(response.body) }
        let number = loop.configuration.firstLoop + loop.index
        loop.outbox.finish(id: head.id) {
            $0.tell(of: head, response, bytes: hasBody ? response.body.count : 0, loop: number)
        }
        phase = keepsAlive ? .readingHead : .closing
    }

    /// What is reported of an answer, but for its bytes.
    func exchange(_ head: AnsweredHead, _ response: HTTPResponse) -> HTTPExchange {
        var exchange = HTTPExchange(status: response.status, requestID: head.id)
        exchange.tell(of: head, response, bytes: 0, loop: loop.configuration.firstLoop + loop.index)
        return exchange
    }

    /// Answers what can't be read, and ends: where the next request begins can't be known.
    ///
    /// - Parameter method: as far as it could be read; nothing follows the head of an answer to HEAD (RFC 9110 §9.3.2).
    func refuse(_ status: UInt16, _ reason: HTTPServer.RejectionReason, to method: HTTPMethod) {
        refuse(
            status, reason,
            AnsweredHead(method: method, receivedAt: loop.now, id: loop.newID(), client: peer))
    }

    /// The same for a request whose head could be read: the answer has its id, the log its client and how long it took.
    func refuse(_ status: UInt16, _ reason: HTTPServer.RejectionReason, to request: HTTPRequest) {
        refuse(status, reason, head(of: request))
    }

    private func refuse(_ status: UInt16, _ reason: HTTPServer.RejectionReason, _ head: AnsweredHead) {
        loop.reject(reason)
        rest = []
        answer(head, with: ServerProblem.response(status))
        flush()
    }
}

extension HTTPExchange {
    /// Hot path: tells of an answer; overwrites every member.
    @inline(__always)
    fileprivate mutating func tell(
        of head: Connection.AnsweredHead, _ response: HTTPResponse, bytes: Int, loop: Int
    ) {
        (method, status, bodyBytesSent) = (head.method, response.status, bytes)
        (receivedAt, finishedAt) = (head.receivedAt, 0)
        (context, note) = (response.context, response.note)
        (requestID, traceID, peer) = (head.id, head.traceID, head.client)
        (self.loop, wasCut) = (loop, false)
    }
}
