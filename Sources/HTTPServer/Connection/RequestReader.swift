// SPDX-License-Identifier: Apache-2.0

/// The input of a connection: reads requests from octets, and calls the handler.
///
/// An idle connection holds no buffer: octets are parsed where they were received, and only those of an incomplete request
/// are stored.
struct RequestReader {
    /// The result of reading octets that may begin or complete a request.
    enum Step {
        /// The request is incomplete.
        case needsMore
        /// The head is complete, and content follows.
        case content
        /// The handler has answered.
        case response(AnsweredRequest)
        /// A task makes the answer.
        case task(AwaitedAnswer, @Sendable () async -> HTTPResponse)
        /// After this request no other can be read; the answer says why.
        case refused(AnsweredRequest, RequestError)
    }

    /// A request whose content is being received.
    private final class Content {
        var request: HTTPRequest
        var reader: ContentReader
        let framing: RequestFraming

        init(_ request: HTTPRequest, _ reader: ContentReader, _ framing: RequestFraming) {
            self.request = request
            self.reader = reader
            self.framing = framing
        }
    }

    private let peer: PeerAddress
    /// Whether only a vital request is answered, because there are too many connections.
    private let isRestricted: Bool
    private var parser: RequestParser
    private var content: Content?
    /// Octets that were received and not consumed.
    private var rest: [UInt8] = []
    /// Octets received after the request that is being answered; counted only once the client has
    /// half-closed.
    private var unconsumed = 0
    /// Whether the client has half-closed; octets that it sent before may still be unread.
    private(set) var isHalfClosed = false
    /// Whether the socket has no more to read.
    private(set) var hasEnded = false

    init(_ peer: PeerAddress, isRestricted: Bool, _ limits: RequestLimits) {
        self.peer = peer
        self.isRestricted = isRestricted
        parser = RequestParser(limits)
    }

    // MARK: - Octets

    /// Whether all octets received have been consumed.
    var isEmpty: Bool { rest.isEmpty }

    /// The octets that are stored.
    var stored: [UInt8] { rest }

    /// Whether more has been received than the empty line that some clients send after content (RFC 9112
    /// §2.2).
    var hasBegunHead: Bool { rest.contains { $0 != Octet.carriageReturn && $0 != Octet.lineFeed } }

    /// Whether the request that is being answered may be the last, as far as the reader knows.
    var mayBeLast: Bool { isHalfClosed && unconsumed == 0 }

    /// Stores octets that could not be consumed.
    mutating func store(_ bytes: UnsafeRawBufferPointer) { unsafe rest.append(contentsOf: bytes) }

    /// Removes octets that have been consumed.
    mutating func remove(_ count: Int) {
        if count > 0 { rest = count >= rest.count ? [] : Array(rest[count...]) }
    }

    /// Drops the octets of an incomplete request.
    mutating func removeAll() { (rest, content) = ([], nil) }

    /// A task has returned its response: the stored octets follow its request.
    mutating func noteUnconsumed() { unconsumed = rest.count }

    /// The client has half-closed.
    mutating func halfClose() { isHalfClosed = true }

    /// The socket has no more to read.
    mutating func end() { hasEnded = true }

    // MARK: - Requests

    /// Hot path: reads a head, and what follows it if it has no content; `count` becomes the number of octets that took, 0
    /// without a complete head. The handler's response goes into `response`.
    mutating func readHead(
        _ bytes: UnsafeRawBufferPointer, count: inout Int, at now: UInt64, into response: inout HTTPResponse,
        _ driver: some ConnectionDriver
    ) -> Step {
        let context = driver.context
        // Moved out of the context meanwhile: a value that is a member of an object is copied before it is
        // passed on.
        var request = HTTPRequest()
        swap(&request, &context.request)
        defer { swap(&request, &context.request) }
        switch unsafe parser.parse(bytes, into: &request) {
        case .needsMore: return .needsMore
        case .failed(let error):
            count = bytes.count
            return refused(unsafe unread(bytes, at: now, context), nil, error, into: &response, context)
        case .refused(let error):
            count = bytes.count
            note(&request, at: now, context)
            return refused(AnsweredRequest(request, context), request, error, into: &response, context)
        case .head(let length, let framing):
            count = length
            if isHalfClosed { unconsumed = bytes.count - length }
            note(&request, at: now, context)
            return begin(request, framing, into: &response, driver)
        }
    }

    /// Reads content; `count` becomes the number of octets that it used.
    mutating func readContent(
        _ bytes: UnsafeRawBufferPointer, count: inout Int, into response: inout HTTPResponse,
        _ driver: some ConnectionDriver
    ) -> Step {
        guard let content else { return .needsMore }
        do throws(RequestError) {
            count = unsafe try content.reader.read(bytes)
        } catch {
            count = bytes.count
            let (request, context) = (content.request, driver.context)
            return refused(AnsweredRequest(request, context), request, error, into: &response, context)
        }
        guard content.reader.isDone else { return .content }
        if isHalfClosed { unconsumed = bytes.count - count }
        content.request.body = content.reader.content
        self.content = nil
        guard let receiver = content.reader.receiver else {
            return callHandler(content.request, content.framing, into: &response, driver)
        }
        let answer = driver.context.handler.answer(content.request, with: receiver)
        return step(answer, to: content.request, content.framing, into: &response, driver)
    }

    @inline(__always)
    private func note(_ request: inout HTTPRequest, at now: UInt64, _ context: ConnectionContext) {
        request.receivedAt = now
        request.client = context.client(of: request, peer)
    }

    /// Hot path: decides how a request whose head has been read is answered.
    private mutating func begin(
        _ request: HTTPRequest, _ framing: RequestFraming, into response: inout HTTPResponse,
        _ driver: some ConnectionDriver
    ) -> Step {
        let context = driver.context
        // Refused whatever follows the head: there are too many connections for this request.
        if isRestricted, !context.handler.isVital(request) {
            driver.reject(.overload)
            response = ServerProblem.overload
            return .response(AnsweredRequest(request, context))
        }
        // The server itself has no TLS; a trusted proxy may have it.
        guard !request.isOfSecuredScheme || context.configuration.isTrustedProxy(peer) else {
            let answered = AnsweredRequest(request, context)
            return refused(answered, request, .misdirected, into: &response, context)
        }
        guard framing.body != .none else { return callHandler(request, framing, into: &response, driver) }
        let takesContent = context.handler.takesContent(of: request)
        let reader: ContentReader
        do throws(RequestError) {
            let limits = context.configuration.limits
            reader = try ContentReader(
                framing.body, limits: limits, isCollected: takesContent,
                receiver: takesContent ? context.handler.contentReceiver(of: request) : nil)
        } catch {
            return refused(AnsweredRequest(request, context), request, error, into: &response, context)
        }
        if framing.expectsContinue {
            guard takesContent else {
                // The client need not send it, and if it does, it is not read (RFC 9110 §10.1.1).
                var framing = framing
                framing.keepsAlive = false
                return callHandler(request, framing, into: &response, driver)
            }
            context.queue.appendHead { ResponseEncoder.append("HTTP/1.1 100 Continue\r\n\r\n", to: &$0) }
        }
        content = Content(request, reader, framing)
        return .content
    }

    /// Hot path: calls the handler.
    private func callHandler(
        _ request: HTTPRequest, _ framing: RequestFraming, into response: inout HTTPResponse,
        _ driver: some ConnectionDriver
    ) -> Step {
        let context = driver.context
        if context.handler.answersAtOnce(request, with: &response) {
            return .response(answered(request, framing, context))
        }
        return step(context.handler.answer(request), to: request, framing, into: &response, driver)
    }

    @inline(__always)
    private func answered(
        _ request: HTTPRequest, _ framing: RequestFraming, _ context: ConnectionContext
    ) -> AnsweredRequest {
        AnsweredRequest(request, context, keepsAlive: framing.keepsAlive && !isRestricted)
    }

    /// What an answer of the handler means for the connection.
    private func step(
        _ answer: HTTPAnswer, to request: HTTPRequest, _ framing: RequestFraming,
        into response: inout HTTPResponse, _ driver: some ConnectionDriver
    ) -> Step {
        let answered = answered(request, framing, driver.context)
        switch answer {
        case .now(let other): response = other
        case .later(let word, let note, _) where isRestricted && !driver.mayStartVitalTask:
            driver.reject(.overload)
            response = ServerProblem.overload
            (response.context, response.note) = (word, note)
        case .later(let word, let note, let work):
            return .task(AwaitedAnswer(request: answered, context: word, note: note), work)
        }
        return .response(answered)
    }

    // MARK: - Requests that can't be read

    /// The client has not sent the complete request before its deadline.
    func timedOut(at now: UInt64, _ context: ConnectionContext) -> AnsweredRequest {
        if let content { return AnsweredRequest(content.request, context) }
        return unread(rest, at: now, context)
    }

    /// - Parameter request: nil if its head could not be read.
    private func refused(
        _ answered: AnsweredRequest, _ request: HTTPRequest?, _ error: RequestError,
        into response: inout HTTPResponse, _ context: ConnectionContext
    ) -> Step {
        let detail = error.detail(within: context.configuration.limits)
        response = ServerProblem.response(error.status, detail: detail)
        if let request { context.handler.mark(&response, to: request, detail: detail) }
        return .refused(answered, error)
    }

    /// A request whose head could not be read. Of its method only HEAD matters, whose answer has no content
    /// (RFC 9110 §9.3.2).
    private func unread(
        _ bytes: some Sequence<UInt8>, at now: UInt64, _ context: ConnectionContext
    ) -> AnsweredRequest {
        let line = bytes.drop { $0 == Octet.carriageReturn || $0 == Octet.lineFeed }
        let method = line.starts(with: "HEAD ".utf8) ? HTTPMethod.head : .get
        return AnsweredRequest(method: method, receivedAt: now, id: context.newID(), client: peer)
    }
}
