// SPDX-License-Identifier: Apache-2.0

/// The interface to the program that the server is part of: answers requests, now or later.
///
/// An object, so that a loop calls it without a copy.
public protocol RequestHandling: AnyObject, Sendable {
    /// Hot path: called first for every request; true if `response`, which begins as an empty 200, has become
    /// the answer, false if `answer(_:)` is to make it.
    ///
    /// For answers that are in memory: nothing is copied on the way out. Called on an event loop: must not
    /// block.
    func answersAtOnce(_ request: HTTPRequest, with response: inout HTTPResponse) -> Bool

    /// Called on an event loop, which serves no other client meanwhile: must not block.
    func answer(_ request: HTTPRequest) -> HTTPAnswer

    /// Whether a request's content is collected; else it is read and discarded. Called on an event loop, with
    /// the head.
    func takesContent(of request: HTTPRequest) -> Bool

    /// Who takes a request's content while it arrives; nil where it is collected into `HTTPRequest.body`. Called on an
    /// event loop, with the head, if `takesContent(of:)` is true.
    func contentReceiver(of request: HTTPRequest) -> (any HTTPContentReceiving)?

    /// Called in place of `answer(_:)`, under the same conditions, when a receiver has all the content.
    func answer(_ request: HTTPRequest, with content: any HTTPContentReceiving) -> HTTPAnswer

    /// Whether a request is answered even when there are more connections than `maxConnections`: health
    /// checks are.
    func isVital(_ request: HTTPRequest) -> Bool

    /// Called on the loop with the server's own refusal of a request whose head it has read: may set the answer's `context`
    /// and `note`, for `didFinish(_:)`.
    ///
    /// - Parameters:
    ///   - refusal: the answer, whose status and body are decided.
    ///   - request: what is refused.
    ///   - detail: what the answer says of the reason beside its status.
    func mark(_ refusal: inout HTTPResponse, to request: HTTPRequest, detail: String?)

    /// Called on the loop when an answer has been sent completely, or its connection has ended before. Must
    /// not block.
    func didFinish(_ exchange: HTTPExchange)
}

extension RequestHandling {
    /// Returns false.
    public func answersAtOnce(_ request: HTTPRequest, with response: inout HTTPResponse) -> Bool { false }

    /// Returns true.
    public func takesContent(of request: HTTPRequest) -> Bool { true }

    /// Returns nil.
    public func contentReceiver(of request: HTTPRequest) -> (any HTTPContentReceiving)? { nil }

    /// Answers without the content.
    public func answer(_ request: HTTPRequest, with content: any HTTPContentReceiving) -> HTTPAnswer {
        answer(request)
    }

    /// Returns false.
    public func isVital(_ request: HTTPRequest) -> Bool { false }

    /// Sets nothing.
    public func mark(_ refusal: inout HTTPResponse, to request: HTTPRequest, detail: String?) {}
}

/// Takes a request's content while it arrives.
///
/// It is dropped without another call if the client does not send all of it.
public protocol HTTPContentReceiving: AnyObject, Sendable {
    /// Takes the next bytes, which are valid only during the call. Called on an event loop: must not block.
    func receive(_ bytes: UnsafeRawBufferPointer)
}

/// When an answer is available.
public enum HTTPAnswer: Sendable {
    /// In the same turn of the loop, without a task.
    case now(HTTPResponse)
    /// From a task that the server owns, and cancels when the client disconnects or `requestTimeout` passes.
    ///
    /// `context` and `note` replace those of the response until there is one.
    case later(
        context: UInt64, note: (any AnyObject & Sendable)? = nil, @Sendable () async -> HTTPResponse)
}

/// One request and how it ended.
public struct HTTPExchange: Sendable {
    /// The method; GET where the request could not be read.
    public var method = HTTPMethod.get
    /// The status that was sent, or was about to be; 499 if the client disconnected before there was one.
    public var status: HTTPStatus
    /// Bytes of content that the kernel took.
    public var bodyBytesSent = 0
    /// When the head was complete, and when the answer was sent or the connection ended; CLOCK_MONOTONIC in
    /// nanoseconds.
    public var receivedAt: UInt64 = 0, finishedAt: UInt64 = 0
    /// The handler's own value from its response; 0 for an answer of the server itself.
    public var context: UInt64 = 0
    /// The handler's own object from its response.
    public var note: (any AnyObject & Sendable)?
    /// The request's id.
    public var requestID: RequestID
    /// The id of the trace that the request is part of (`HTTPRequest.traceID`).
    public var traceID: UInt128?
    /// The other end of the connection, or the client that a trusted proxy named.
    public var peer = PeerAddress.unix
    /// The event loop's number, from 0.
    public var loop = 0
    /// Whether the connection ended before the whole answer was sent.
    public var wasCut = false

    /// Nanoseconds from the head's end to the last byte.
    public var duration: UInt64 { finishedAt &- receivedAt }

    init(status: HTTPStatus, requestID: RequestID) {
        self.status = status
        self.requestID = requestID
    }
}
