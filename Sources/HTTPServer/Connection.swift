// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// One client's connection: reads requests in order, answers them in order. Confined to its loop.
final class Connection {
    private enum Phase {
        case readingHead
        case readingContent(ContentReader)
        case awaitingAnswer
        /// The last answer is on its way; what still comes in is dropped.
        case closing
        case closed
    }

    /// What a deadline is for.
    private enum Deadline {
        case idle, header, body, answer, write, linger
    }

    let number: UInt64
    let socket: CInt
    private unowned let loop: EventLoop
    private var phase = Phase.readingHead
    private var parser: RequestParser
    private var request = HTTPRequest()
    private var framing = RequestFraming()
    private var input: [UInt8] = []
    private var consumed = 0
    private var outgoing = OutgoingQueue()
    private var heads: [UInt8] = []
    private var task: Task<Void, Never>?
    private var deadline: (kind: Deadline, at: UInt64)
    private var hasServed = false
    private var endOfInput = false
    /// Answers on their way, oldest first, each with the count of bytes after which it has left.
    private var leaving: [(exchange: HTTPExchange, until: Int)] = []
    private var queuedBytes = 0
    private var sentBytes = 0

    /// How long a connection is kept after its last answer, so that the client gets all of it.
    private static let lingerTime: UInt64 = 2_000_000_000

    init(number: UInt64, socket: CInt, loop: EventLoop) {
        self.number = number
        self.socket = socket
        self.loop = loop
        let configuration = loop.configuration
        parser = RequestParser(
            maxHeadBytes: configuration.maxHeaderBytes, maxTargetBytes: configuration.maxTargetBytes)
        deadline = (.header, loop.now + configuration.headerTimeout.nanoseconds)
    }

    /// Whether nothing is in flight, so that a drain may end it.
    var isIdle: Bool {
        guard case .readingHead = phase else { return false }
        return input.count == consumed && outgoing.isEmpty
    }

    private var isClosed: Bool {
        guard case .closed = phase else { return false }
        return true
    }

    // MARK: - Events

    /// The socket has something to read, can be written again, or has ended.
    func handle(_ events: UInt32) {
        if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { return cut() }
        if events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0 { receive() }
        if !isClosed, events & EPOLLOUT.rawValue != 0 { flush() }
    }

    /// A handler's task has its answer.
    func deliver(_ response: HTTPResponse, for sequence: UInt64) {
        guard case .awaitingAnswer = phase, sequence == answered else { return }
        task = nil
        send(response)
        proceed()
    }

    /// Ends the connection if its deadline has passed.
    func checkDeadline(at now: UInt64) {
        guard now >= deadline.at, !isClosed else { return }
        switch deadline.kind {
        case .idle, .linger: close()
        case .header: input.count == consumed ? close() : refuse(408, .headerTimeout)
        case .body: refuse(408, .bodyTimeout)
        case .write:
            loop.reject(.writeTimeout)
            cut()
        case .answer:
            loop.reject(.requestTimeout)
            task?.cancel()
            task = nil
            send(ServerProblem.response(503))
            proceed()
        }
    }

    /// Ends the connection after what is on its way; at once when it is idle.
    func drain() {
        if isIdle { close() } else { framing.keepsAlive = false }
    }

    // MARK: - Reading

    private func receive() {
        while !isClosed, !endOfInput {
            let count = unsafe loop.receive(from: socket) { unsafe input.append(contentsOf: $0) }
            guard count > 0 else {
                if count < 0, errno == EAGAIN { break }
                endOfInput = true
                break
            }
            if case .closing = phase { input.removeAll() }
            // A client that sends ahead waits until its earlier requests are answered.
            if input.count - consumed > loop.configuration.maxHeaderBytes + loop.configuration.maxBodyBytes {
                break
            }
            if count < EventLoop.receiveBytes { break }
        }
        proceed()
        if endOfInput, !isClosed { finishInput() }
    }

    /// The client will send no more: what waits for a task is given up, what is on its way still leaves.
    private func finishInput() {
        switch phase {
        case .awaitingAnswer: cut()
        case .closing, .closed: if outgoing.isEmpty { close() }
        case .readingHead, .readingContent: outgoing.isEmpty ? close() : (phase = .closing)
        }
    }

    /// Goes as far as the bytes at hand allow, then sends all answers made on the way at once.
    private func proceed() {
        var isStuck = false
        while !isStuck {
            switch phase {
            case .readingHead: isStuck = !readHead()
            case .readingContent(let reader): isStuck = !readContent(reader)
            case .awaitingAnswer, .closing, .closed: isStuck = true
            }
        }
        if consumed == input.count, consumed > 0 {
            // An idle connection holds no buffer.
            if input.capacity > 4_096 { input = [] } else { input.removeAll(keepingCapacity: true) }
            consumed = 0
        }
        flush()
    }

    private func readHead() -> Bool {
        guard consumed < input.count, leaving.count < Self.maxPipelined else { return false }
        let outcome = unsafe input.withUnsafeBytes { bytes in
            unsafe parser.parse(UnsafeRawBufferPointer(rebasing: bytes[consumed...]), into: &request)
        }
        switch outcome {
        case .needsMore:
            if deadline.kind == .idle {
                deadline = (.header, loop.now + loop.configuration.headerTimeout.nanoseconds)
            }
            return false
        case .failed(let error):
            refuse(error.rawValue, HTTPServer.RejectionReason(error))
            return false
        case .head(let length, let framing):
            consumed += length
            self.framing.body = framing.body
            self.framing.keepsAlive = framing.keepsAlive && !loop.isDraining
            return begin(framing)
        }
    }

    /// Most answers made ahead for one connection before the first has left.
    private static let maxPipelined = 64

    private func begin(_ framing: RequestFraming) -> Bool {
        request.receivedAt = loop.now
        request.body = []
        guard framing.body != .none else {
            answer()
            return true
        }
        do throws(RequestError) {
            let reader = try ContentReader(framing.body, maxBytes: loop.configuration.maxBodyBytes)
            if framing.expectsContinue {
                heads += "HTTP/1.1 100 Continue\r\n\r\n".utf8
                queueHeads()
            }
            phase = .readingContent(reader)
            deadline = (.body, loop.now + loop.configuration.bodyTimeout.nanoseconds)
            return true
        } catch {
            refuse(error.rawValue, HTTPServer.RejectionReason(error))
            return false
        }
    }

    private func readContent(_ reader: ContentReader) -> Bool {
        var reader = reader
        do throws(RequestError) {
            let count = try reader.read(input[consumed...])
            consumed += count
            if count > 0 { deadline = (.body, loop.now + loop.configuration.bodyTimeout.nanoseconds) }
        } catch {
            refuse(error.rawValue, HTTPServer.RejectionReason(error))
            return false
        }
        guard reader.isDone else {
            phase = .readingContent(reader)
            return false
        }
        request.body = reader.content
        answer()
        return true
    }

    // MARK: - Answering

    private var answered: UInt64 = 0

    private func answer() {
        switch loop.handler.answer(request) {
        case .now(let response): send(response)
        case .later(let work):
            phase = .awaitingAnswer
            deadline = (.answer, loop.now + loop.configuration.requestTimeout.nanoseconds)
            let (inbox, number, sequence) = (loop.inbox, number, answered)
            task = Task {
                let response = await work()
                inbox.post(.answer(connection: number, sequence: sequence, response))
            }
        }
    }

    private func send(_ response: HTTPResponse) {
        answered += 1
        let keepsAlive = framing.keepsAlive && !response.closesConnection && !loop.isDraining
        let hasBody = request.method != .head && !response.status.forbidsBody
        loop.encoder.encode(
            response, contentLength: response.body.count, keepsAlive: keepsAlive, isHTTP10: request.isHTTP10,
            into: &heads)
        let headBytes = heads.count
        queueHeads()
        if hasBody { queue(response.body) }
        queuedBytes += headBytes + (hasBody ? response.body.count : 0)
        leaving.append(
            (
                HTTPExchange(
                    request: request, status: response.status,
                    bodyBytesSent: hasBody ? response.body.count : 0,
                    duration: 0, context: response.context, wasCut: false), queuedBytes
            ))
        phase = keepsAlive ? .readingHead : .closing
        hasServed = true
    }

    private func queueHeads() {
        outgoing.append(heads)
        heads = []
        heads.reserveCapacity(1_024)
    }

    private func queue(_ body: HTTPBody) {
        switch body {
        case .none: return
        case .bytes(let bytes): outgoing.append(bytes)
        case .file(let descriptor, let offset, let length, let owner):
            outgoing.append(file: descriptor, offset: offset, length: length, owner: owner)
        }
    }

    /// Answers what can't be read, and ends: the next request's beginning can't be known.
    private func refuse(_ status: UInt16, _ reason: HTTPServer.RejectionReason) {
        loop.reject(reason)
        framing.keepsAlive = false
        request = HTTPRequest()
        var response = ServerProblem.response(status)
        response.closesConnection = true
        send(response)
        flush()
    }

    // MARK: - Writing

    private func flush() {
        guard !isClosed else { return }
        let before = sentBytes
        let progress = outgoing.send(to: socket, sent: &sentBytes)
        if sentBytes > before || deadline.kind != .write { report() }
        switch progress {
        case .failed: cut()
        case .blocked:
            if sentBytes > before || deadline.kind != .write {
                deadline = (.write, loop.now + loop.configuration.writeTimeout.nanoseconds)
            }
        case .done: rest()
        }
    }

    /// Tells the handler of the answers that have left.
    private func report() {
        while let first = leaving.first, first.until <= sentBytes {
            leaving.removeFirst()
            var exchange = first.exchange
            exchange.duration = loop.now - (exchange.request?.receivedAt ?? loop.now)
            loop.handler.didFinish(exchange)
        }
    }

    /// All has been sent.
    private func rest() {
        switch phase {
        case .readingHead where input.count == consumed:
            deadline = (hasServed ? .idle : .header, loop.now + loop.idleTime(hasServed))
        case .closing:
            guard !endOfInput else { return close() }
            // Bytes that come in after close(2) would make the kernel reset the connection and lose the answer's end.
            if deadline.kind != .linger {
                shutdown(socket, CInt(SHUT_WR))
                deadline = (.linger, loop.now + Self.lingerTime)
            }
        default: break
        }
    }

    // MARK: - Ending

    /// The client is gone: what it waited for is given up.
    private func cut() {
        guard !isClosed else { return }
        task?.cancel()
        for (exchange, _) in leaving {
            var exchange = exchange
            exchange.wasCut = true
            loop.handler.didFinish(exchange)
        }
        if case .awaitingAnswer = phase {
            loop.handler.didFinish(
                HTTPExchange(
                    request: request, status: HTTPStatus(499), bodyBytesSent: 0,
                    duration: loop.now - request.receivedAt, context: 0, wasCut: true))
        }
        close()
    }

    private func close() {
        guard !isClosed else { return }
        phase = .closed
        task?.cancel()
        loop.remove(self)
    }
}
