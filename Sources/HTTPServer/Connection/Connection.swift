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
        case readingContent(IncomingContent)
        case awaitingAnswer(Awaited)
        /// The head of an answer is on its way, its body still arrives.
        case streaming(OutgoingStream)
        /// The last answer is on its way; what still comes in is dropped.
        case closing
        case closed
    }

    /// What is known of a request whose answer a task makes.
    struct Awaited {
        var head: AnsweredHead
        var context: UInt64
        var note: (any AnyObject & Sendable)?
        var task: Task<Void, Never>
    }

    /// What an answer needs to know of its request.
    struct AnsweredHead {
        var method = HTTPMethod.get
        var isHTTP10 = false
        var keepsAlive = false
        var receivedAt: UInt64
        var id: RequestID
        var traceID: UInt128?
        var client: PeerAddress

        /// What the answer's head says beside its response.
        func frame(_ framing: ResponseFraming, keepsAlive: Bool) -> ResponseEncoder.Frame {
            ResponseEncoder.Frame(framing: framing, requestID: id, keepsAlive: keepsAlive, isHTTP10: isHTTP10)
        }
    }

    /// What a deadline is for.
    enum Deadline {
        case idle, header, body, answer, linger
        /// What is left of answers is in the kernel, and has yet to reach the client's host.
        case taking
        /// The server drains, and a request may be on its way.
        case lastRequest
    }

    let number: UInt64
    let socket: CInt
    let peer: PeerAddress
    /// When the connection was accepted.
    let acceptedAt: UInt64
    /// Whether only a vital request is answered, because there are too many connections.
    let isRestricted: Bool
    /// Holds this connection until it is closed, and so lives as long.
    let loop: EventLoop
    var phase = Phase.readingHead
    /// When what the phase waits for is overdue; while answers are pending, only the handler's task is.
    var deadline: (kind: Deadline, at: UInt64)
    /// What the socket has not taken yet; empty unless the client is slow.
    var pending = Outbox()
    /// How fast the client takes what is pending; counts only while something is.
    private var pace = WritePace(at: 0, taken: 0, timeout: 0)

    var parser: RequestParser
    /// Bytes received and not consumed.
    var rest: [UInt8] = []
    /// Whether the socket may have more to read; it says so only once.
    var isReadable = false
    var endOfInput = false
    /// Whether the client has said that it sends no more; what it sent before may still be unread.
    var peerHasFinished = false
    /// Bytes received behind the request at hand; counted only once the client has ended its side.
    var unconsumed = 0
    /// Whether the client ended its side before the answer it waits for began: what is sent to it tells whether it listens.
    var mayStillListen = false
    /// Octets of the awaited answer's head that have been sent to find that out.
    var headOctetsSent = 0
    /// When the next one is sent, and how long after the last one that is.
    var nextProbe: UInt64 = 0, probePause: UInt64 = 0
    var hasServed = false
    /// Whether it is among those of its loop that may be idle.
    var isEnlisted = false
    /// Bytes that the client's host lacked when that was last looked at.
    var untaken = 0
    /// Whether this side of the connection has been ended.
    var hasFinishedSending = false
    /// Whether the last answer ends where the connection does.
    var endsByClose = false
    /// Answers so far; tells an answer that comes too late from the one that is waited for.
    var answered: UInt64 = 0
    /// `answered` when the head that the deadline is for began.
    var headBegan: UInt64 = 0

    init(number: UInt64, socket: CInt, peer: PeerAddress, isRestricted: Bool, loop: EventLoop) {
        self.number = number
        self.socket = socket
        self.peer = peer
        acceptedAt = loop.now
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

    /// Reads what has come and not been announced yet, and answers it.
    func readNow() {
        isReadable = true
        proceed()
    }

    /// Whether a task makes its answer.
    var isAwaited: Bool {
        guard case .awaitingAnswer = phase else { return false }
        return true
    }

    /// Whether nothing is being made for the client, and nothing is on its way to it.
    var mayBeEvicted: Bool {
        switch phase {
        case .readingHead, .readingContent, .closing: pending.isEmpty
        case .awaitingAnswer, .streaming, .closed: false
        }
    }

    // MARK: - Events

    /// The socket has something to read, can be written again, or has ended.
    func handle(_ events: UInt32) {
        if events & EPOLLERR.rawValue != 0 { return leave() }
        if events & EPOLLHUP.rawValue != 0 { return hasFinishedSending ? finishBothSides() : cut() }
        if events & EPOLLOUT.rawValue != 0, !pending.isEmpty { settle() }
        if events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0 { isReadable = true }
        if events & EPOLLRDHUP.rawValue != 0 { peerHasFinished = true }
        proceed()
    }

    /// A handler's task has its answer.
    func deliver(_ response: HTTPResponse, for sequence: UInt64) {
        guard case .awaitingAnswer(let awaited) = phase, sequence == answered else { return }
        loop.awaited -= 1
        unconsumed = rest.count
        answer(awaited.head, with: response)
        settle()
        proceed()
    }

    /// Ends the connection if its deadline has passed.
    func checkDeadline(at now: UInt64) {
        guard keepsPace(at: now) else {
            loop.reject(.writeTimeout)
            return cut()
        }
        probeAgain()
        guard !isOver else { return close() }
        guard now >= deadline.at else { return }
        switch (deadline.kind, phase) {
        case (_, .closed), (.answer, .readingHead), (.answer, .readingContent), (.answer, .closing): return
        case (.answer, .awaitingAnswer(let awaited)):
            loop.reject(.requestTimeout)
            loop.awaited -= 1
            awaited.task.cancel()
            var response = ServerProblem.response(503)
            (response.context, response.note) = (awaited.context, awaited.note)
            unconsumed = rest.count
            answer(awaited.head, with: response)
            settle()
            proceed()
        case (.answer, .streaming(let stream)):
            guard stream.isWaiting else { return }
            loop.reject(.requestTimeout)
            cut()
        // The client is not behind with anything before it has what it asked for.
        case _ where !pending.isEmpty: return
        case (.idle, _), (.linger, _), (.taking, _): closeUnlessUntaken()
        case (.lastRequest, _): endUnlessAsked()
        case (.header, _) where hasBegunHead: refuseLate(.headerTimeout)
        case (.header, _):
            loop.reject(.headerTimeout)
            close()
        case (.body, _): refuseLate(.bodyTimeout)
        }
    }

    // MARK: - Ending

    /// Sends what can be sent, and goes on to what follows.
    func flush() {
        var pieces = 0
        while !isClosed {
            let wasBlocked = !pending.isEmpty
            switch send() {
            case .failed: return cut()
            case .reset: return leave()
            case .blocked:
                if !wasBlocked {
                    pace = WritePace(at: loop.now, taken: taken, timeout: loop.times.write)
                }
                return
            case .done:
                if wasBlocked { restartClock() }
                if case .closing = phase { return finishClosing() }
                guard case .streaming(let stream) = phase, goOn(stream, piece: pieces) else { return }
                pieces += 1
            }
        }
    }

    /// Whether the client takes enough of what is pending.
    private func keepsPace(at now: UInt64) -> Bool {
        guard !pending.isEmpty else { return true }
        return pace.isKept(
            at: now, taken: { taken }, timeout: loop.times.write, least: loop.times.leastTaken)
    }

    /// Bytes of what is pending that have reached the client's host: what a socket accepts says little of a slow client,
    /// since it takes much at a time, and seldom.
    private var taken: Int { pending.bytesSent - bytesOnTheWay }

    /// The client has taken all that it was behind with: the time for what it sends next begins now.
    private func restartClock() {
        switch phase {
        case .readingHead: deadline = (.idle, loop.now + loop.times.idle)
        case .readingContent: deadline = (.body, loop.now + loop.times.body)
        case .awaitingAnswer, .streaming, .closing, .closed: return
        }
    }

    /// Takes back what is pending, so that what is now put into the loop's outbox goes behind it.
    func reclaimPending() {
        // Safe for others: between two connections' turns the loop's outbox is empty.
        if !pending.isEmpty { swap(&pending, &loop.outbox) }
    }

    /// Hot path: empties the loop's outbox, and this connection's own before it if there is one.
    private func send() -> Outbox.Progress {
        guard pending.isEmpty else {
            let progress = pending.send(to: socket)
            pending.reportDeparted(to: loop)
            if progress == .done { pending = Outbox() }
            return progress
        }
        guard !loop.outbox.isEmpty || loop.outbox.answers > 0 else { return .done }
        let progress = loop.outbox.send(to: socket)
        loop.outbox.reportDeparted(to: loop)
        if progress == .done {
            loop.outbox.reset()
        } else {
            swap(&pending, &loop.outbox)
        }
        return progress
    }

    /// The client has reset the connection, which one that has ended its side before may do without being counted.
    private func leave() {
        if !mayStillListen { loop.reject(.reset) }
        cut()
    }

    /// The client is gone: what it waited for is given up.
    func cut() {
        guard !isClosed else { return }
        resetUnlessWhole()
        pending.reportStranded(to: loop)
        if case .streaming(let stream) = phase {
            var exchange = stream.exchange(cutAt: pending.isEmpty ? 0 : pending.bytesSent)
            loop.report(&exchange)
        }
        if case .awaitingAnswer(let awaited) = phase {
            loop.awaited -= 1
            awaited.task.cancel()
            var exchange = HTTPExchange(status: HTTPStatus(499), requestID: awaited.head.id)
            exchange.method = awaited.head.method
            exchange.receivedAt = awaited.head.receivedAt
            (exchange.context, exchange.note) = (awaited.context, awaited.note)
            exchange.peer = awaited.head.client
            exchange.traceID = awaited.head.traceID
            exchange.loop = loop.configuration.firstLoop + loop.index
            exchange.wasCut = true
            loop.report(&exchange)
        }
        close()
    }

    func close() {
        guard !isClosed else { return }
        phase = .closed
        loop.remove(self)
    }
}
