// SPDX-License-Identifier: Apache-2.0

/// The facts about a request that its answer needs.
struct AnsweredRequest {
    var method = HTTPMethod.get
    var isHTTP10 = false
    var keepsAlive = false
    var receivedAt: UInt64
    var id: RequestID
    var traceID: UInt128?
    var client: PeerAddress

    /// A request whose head could not be read.
    init(method: HTTPMethod, receivedAt: UInt64, id: RequestID, client: PeerAddress) {
        self.method = method
        self.receivedAt = receivedAt
        self.id = id
        self.client = client
    }

    /// Hot path: a request whose head has been read.
    @inline(__always)
    init(_ request: HTTPRequest, _ context: ConnectionContext, keepsAlive: Bool = false) {
        method = request.method
        isHTTP10 = request.isHTTP10
        self.keepsAlive = keepsAlive
        receivedAt = request.receivedAt
        id = context.id(of: request)
        traceID = request.traceID
        client = request.client
    }

    /// What the response's head contains in addition to the response.
    func frame(_ framing: ResponseFraming, keepsAlive: Bool) -> ResponseEncoder.Frame {
        ResponseEncoder.Frame(framing: framing, requestID: id, keepsAlive: keepsAlive, isHTTP10: isHTTP10)
    }

    /// Whether the response has content.
    func hasContent(_ response: HTTPResponse) -> Bool { method != .head && !response.status.forbidsBody }

    /// The report on a response, without the octets of its content.
    func exchange(_ response: HTTPResponse, loop: Int) -> HTTPExchange {
        var exchange = HTTPExchange(status: response.status, requestID: id)
        exchange.fill(of: self, response, octets: 0, loop: loop)
        return exchange
    }
}

/// A request whose answer a task makes.
struct AwaitedAnswer {
    var request: AnsweredRequest
    var context: UInt64
    var note: (any AnyObject & Sendable)?

    /// The report on a client that disconnected before there was a response.
    func abandoned(loop: Int) -> HTTPExchange {
        var response = HTTPResponse(status: HTTPStatus(499))
        mark(&response)
        var exchange = request.exchange(response, loop: loop)
        exchange.wasCut = true
        return exchange
    }

    /// The response to a request whose task has taken too long.
    func timedOut() -> HTTPResponse {
        var response = ServerProblem.response(503)
        mark(&response)
        return response
    }

    private func mark(_ response: inout HTTPResponse) {
        (response.context, response.note) = (context, note)
    }
}

extension HTTPExchange {
    /// Hot path: overwrites every member with those of an answer.
    @inline(__always)
    mutating func fill(of request: AnsweredRequest, _ response: HTTPResponse, octets: Int, loop: Int) {
        (method, status, bodyBytesSent) = (request.method, response.status, octets)
        (receivedAt, finishedAt) = (request.receivedAt, 0)
        (context, note) = (response.context, response.note)
        (requestID, traceID, peer) = (request.id, request.traceID, request.client)
        (self.loop, wasCut) = (loop, false)
    }
}
