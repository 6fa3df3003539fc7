// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// One client's connection: reads requests in order, answers them in order. Confined to its loop.
///
/// An idle connection holds no buffer: bytes are read into the loop's, parsed where they lie, and only an incomplete rest
/// is kept; answers go into the loop's outbox, and only what the socket does not take is kept.
final class Connection {
    enum Phase {
        case readingHead
        case readingContent(HTTPRequest, ContentReader, RequestFraming)
        case awaitingAnswer(Awaited)
        /// The last answer is on its way; what still comes in is dropped.
        case closing
        case closed
    }

    /// What is known of a request whose answer a task makes.
    struct Awaited {
        var head: AnsweredHead
        var context: UInt64
        var task: Task<Void, Never>
    }

    /// What an answer needs to know of its request.
    struct AnsweredHead {
        var method = HTTPMethod.get
        var isHTTP10 = false
        var keepsAlive = false
        var receivedAt: UInt64
        var id: RequestID
    }

    /// What a deadline is for.
    enum Deadline {
        case idle, header, body, answer, write, linger
    }

    let number: UInt64
    let socket: CInt
    let peer: PeerAddress
    /// Whether only a vital request is answered, because there are too many connections.
    let isRestricted: Bool
    unowned let loop: EventLoop
    var phase = Phase.readingHead
    var deadline: (kind: Deadline, at: UInt64)
    /// What the socket has not taken yet; empty unless the client is slow.
    var pending = Outbox()

    private var parser: RequestParser
    /// Bytes received and not consumed.
    private var rest: [UInt8] = []
    /// Whether the socket may have more to read; it says so only once.
    private var isReadable = false
    private var endOfInput = false
    private var hasServed = false
    private var answered: UInt64 = 0

    init(number: UInt64, socket: CInt, peer: PeerAddress, isRestricted: Bool, loop: EventLoop) {
        self.number = number
        self.socket = socket
        self.peer = peer
        self.isRestricted = isRestricted
        self.loop = loop
        let configuration = loop.configuration
        parser = RequestParser(RequestLimits(configuration))
        deadline = (.header, loop.now + (isRestricted ? loop.times.linger : loop.times.header))
    }

    var isClosed: Bool {
        guard case .closed = phase else { return false }
        return true
    }

    // MARK: - Events

    /// The socket has something to read, can be written again, or has ended.
    func handle(_ events: UInt32) {
        if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { return cut() }
        if events & EPOLLOUT.rawValue != 0, !pending.isEmpty { flush() }
        if events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0 { isReadable = true }
        if events & EPOLLRDHUP.rawValue != 0, case .awaitingAnswer = phase { return cut() }
        proceed()
    }

    /// A handler's task has its answer.
    func deliver(_ response: HTTPResponse, for sequence: UInt64) {
        guard case .awaitingAnswer(let awaited) = phase, sequence == answered else { return }
        answer(awaited.head, with: response)
        flush()
        proceed()
    }

    /// Ends the connection if its deadline has passed.
    func checkDeadline(at now: UInt64) {
        guard now >= deadline.at else { return }
        switch (deadline.kind, phase) {
        case (_, .closed): return
        case (.idle, _), (.linger, _): close()
        case (.header, _): rest.isEmpty ? close() : refuse(408, .headerTimeout)
        case (.body, _): refuse(408, .bodyTimeout)
        case (.write, _):
            loop.reject(.writeTimeout)
            cut()
        case (.answer, .awaitingAnswer(let awaited)):
            loop.reject(.requestTimeout)
            awaited.task.cancel()
            var response = ServerProblem.response(503)
            response.context = awaited.context
            answer(awaited.head, with: response)
            flush()
            proceed()
        case (.answer, _): return
        }
    }

    /// Ends the connection after what is on its way; at once when it is idle.
    func drain() {
        if case .readingHead = phase, rest.isEmpty, pending.isEmpty { close() }
    }

    // MARK: - Reading

    /// Goes as far as the bytes at hand and the client's own pace allow.
    private func proceed() {
        consumeRest()
        while isReadable, takesInput { receive() }
        if endOfInput { finishInput() }
    }

    /// Whether a request can be read now: a client that does not take its answers, or waits for one, is not read from.
    private var takesInput: Bool {
        switch phase {
        case .readingHead, .readingContent: pending.isEmpty
        case .closing: true
        case .awaitingAnswer, .closed: false
        }
    }

    private func receive() {
        let count = unsafe loop.receive(from: socket) { unsafe take($0) }
        if count <= 0 {
            isReadable = false
            endOfInput = endOfInput || count == 0 || errno != EAGAIN
        } else if count < EventLoop.receiveBytes {
            isReadable = false
        }
    }

    /// Consumes what has just been received, and keeps what is left over.
    private func take(_ bytes: UnsafeRawBufferPointer) {
        guard rest.isEmpty else {
            unsafe rest.append(contentsOf: bytes)
            return consumeRest()
        }
        let count = unsafe consume(bytes)
        if count < bytes.count { unsafe rest.append(contentsOf: bytes[count...]) }
        settle()
    }

    private func consumeRest() {
        while !rest.isEmpty, takesInput {
            let bytes = rest
            let count = unsafe bytes.withUnsafeBytes { unsafe consume($0) }
            rest = count == bytes.count ? [] : Array(bytes[count...])
            settle()
            if count == 0 { return }
        }
    }

    /// After a batch of requests: sends their answers, and sets the clock for what comes next.
    private func settle() {
        flush()
        guard case .readingHead = phase, pending.isEmpty else { return }
        if rest.isEmpty {
            deadline =
                hasServed ? (.idle, loop.now + loop.times.idle) : (.header, loop.now + loop.times.header)
        } else if deadline.kind != .header {
            deadline = (.header, loop.now + loop.times.header)
        }
    }

    /// Hot path: reads and answers requests until bytes or permission run out; returns how many bytes that took.
    private func consume(_ bytes: UnsafeRawBufferPointer) -> Int {
        var consumed = 0
        while consumed < bytes.count, loop.outbox.answers < Self.maxPipelined {
            let left = unsafe UnsafeRawBufferPointer(rebasing: bytes[consumed...])
            let count: Int
            switch phase {
            case .readingHead: count = unsafe readHead(left)
            case .readingContent(let request, let reader, let framing):
                count = unsafe readContent(left, request, reader, framing)
            case .closing, .closed: return bytes.count
            case .awaitingAnswer: return consumed
            }
            if count == 0 { break }
            consumed += count
        }
        return consumed
    }

    /// Most answers made ahead for one connection before the first has left.
    private static let maxPipelined = 64

    private func readHead(_ bytes: UnsafeRawBufferPointer) -> Int {
        switch unsafe parser.parse(bytes, into: &loop.request) {
        case .needsMore: return 0
        case .failed(let error):
            refuse(error.rawValue, HTTPServer.RejectionReason(error))
            return bytes.count
        case .head(let length, let framing):
            begin(framing)
            return length
        }
    }

    private func begin(_ framing: RequestFraming) {
        loop.request.receivedAt = loop.now
        guard framing.body != .none else { return answer(loop.request, framing) }
        do throws(RequestError) {
            let reader = try ContentReader(framing.body, limits: RequestLimits(loop.configuration))
            if framing.expectsContinue {
                loop.outbox.appendHead { $0 += "HTTP/1.1 100 Continue\r\n\r\n".utf8 }
            }
            phase = .readingContent(loop.request, reader, framing)
            deadline = (.body, loop.now + loop.times.body)
        } catch {
            refuse(error.rawValue, HTTPServer.RejectionReason(error))
        }
    }

    private func readContent(
        _ bytes: UnsafeRawBufferPointer, _ request: HTTPRequest, _ reader: ContentReader,
        _ framing: RequestFraming
    ) -> Int {
        var (request, reader) = (request, reader)
        let count: Int
        do throws(RequestError) {
            count = unsafe try reader.read(Array(bytes)[...])
        } catch {
            refuse(error.rawValue, HTTPServer.RejectionReason(error))
            return bytes.count
        }
        if count > 0 { deadline = (.body, loop.now + loop.times.body) }
        if reader.isDone {
            request.body = reader.content
            answer(request, framing)
        } else {
            phase = .readingContent(request, reader, framing)
        }
        return count
    }

    /// The client will send no more: what is on its way still leaves, what waits for a task is given up.
    private func finishInput() {
        switch phase {
        case .awaitingAnswer: cut()
        case .closed: return
        case .readingHead, .readingContent, .closing:
            phase = .closing
            if pending.isEmpty { close() }
        }
    }

    // MARK: - Answering

    /// Hot path: asks the handler.
    private func answer(_ request: HTTPRequest, _ framing: RequestFraming) {
        let head = AnsweredHead(
            method: request.method, isHTTP10: request.isHTTP10,
            keepsAlive: framing.keepsAlive && !isRestricted,
            receivedAt: request.receivedAt, id: loop.id(of: request))
        if isRestricted, !loop.handler.isVital(request) {
            loop.reject(.overload)
            return answer(head, with: ServerProblem.overload)
        }
        switch loop.handler.answer(request) {
        case .now(let response): answer(head, with: response)
        case .later(let context, let work):
            let (inbox, number, sequence) = (loop.inbox, number, answered)
            let task = Task {
                let response = await work()
                inbox.post(.answer(connection: number, sequence: sequence, response))
            }
            phase = .awaitingAnswer(Awaited(head: head, context: context, task: task))
            deadline = (.answer, loop.now + loop.times.request)
        }
    }

    /// Hot path: puts an answer into the loop's outbox.
    private func answer(_ head: AnsweredHead, with response: HTTPResponse) {
        answered += 1
        hasServed = true
        let keepsAlive = head.keepsAlive && !response.closesConnection && !loop.isDraining
        let hasBody = head.method != .head && !response.status.forbidsBody
        loop.outbox.appendHead { bytes in
            loop.encoder.encode(
                response, contentLength: response.body.count, requestID: head.id, keepsAlive: keepsAlive,
                isHTTP10: head.isHTTP10, into: &bytes)
        }
        if hasBody { loop.outbox.append(response.body) }
        var exchange = HTTPExchange(status: response.status, requestID: head.id)
        exchange.method = head.method
        exchange.bodyBytesSent = hasBody ? response.body.count : 0
        exchange.receivedAt = head.receivedAt
        exchange.context = response.context
        exchange.note = response.note
        exchange.peer = peer
        exchange.loop = loop.index
        loop.outbox.finish(exchange)
        phase = keepsAlive ? .readingHead : .closing
    }

    /// Answers what can't be read, and ends: where the next request begins can't be known.
    private func refuse(_ status: UInt16, _ reason: HTTPServer.RejectionReason) {
        loop.reject(reason)
        rest = []
        answer(AnsweredHead(receivedAt: loop.now, id: loop.newID()), with: ServerProblem.response(status))
        flush()
    }

    // MARK: - Ending

    /// Sends what can be sent, and goes on to what follows.
    private func flush() {
        guard !isClosed else { return }
        let before = pending.bytesSent
        switch send() {
        case .failed: cut()
        case .blocked:
            if deadline.kind != .write || pending.bytesSent > before {
                deadline = (.write, loop.now + loop.times.write)
            }
        case .done:
            if case .closing = phase { finishClosing() }
        }
    }

    /// Hot path: empties the loop's outbox, and this connection's own before it if there is one.
    private func send() -> Outbox.Progress {
        guard pending.isEmpty else {
            let progress = pending.send(to: socket)
            while let exchange = pending.nextDeparted() { loop.report(exchange) }
            if progress == .done { pending = Outbox() }
            return progress
        }
        guard !loop.outbox.isEmpty else { return .done }
        let progress = loop.outbox.send(to: socket)
        while let exchange = loop.outbox.nextDeparted() { loop.report(exchange) }
        if progress == .done {
            loop.outbox.reset()
        } else {
            swap(&pending, &loop.outbox)
        }
        return progress
    }

    private func finishClosing() {
        guard !endOfInput else { return close() }
        // Bytes that come in after close(2) would make the kernel reset the connection and lose the answer's end.
        guard deadline.kind != .linger else { return }
        shutdown(socket, CInt(SHUT_WR))
        deadline = (.linger, loop.now + loop.times.linger)
    }

    /// The client is gone: what it waited for is given up.
    func cut() {
        guard !isClosed else { return }
        while let exchange = pending.nextStranded() { loop.report(exchange) }
        if case .awaitingAnswer(let awaited) = phase {
            awaited.task.cancel()
            var exchange = HTTPExchange(status: HTTPStatus(499), requestID: awaited.head.id)
            exchange.method = awaited.head.method
            exchange.receivedAt = awaited.head.receivedAt
            exchange.context = awaited.context
            exchange.peer = peer
            exchange.loop = loop.index
            exchange.wasCut = true
            loop.report(exchange)
        }
        close()
    }

    private func close() {
        guard !isClosed else { return }
        phase = .closed
        loop.remove(self)
    }
}
