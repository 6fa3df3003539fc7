// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// The driver of one connection: passes the events of its socket and its loop to the state machine, and performs the
/// machine's actions. Confined to its loop.
final class Connection {
    let number: UInt64
    let socket: CInt
    let peer: PeerAddress
    /// When the connection was accepted.
    let acceptedAt: UInt64
    /// Whether only a vital request is answered, because there are too many connections.
    let isRestricted: Bool
    let context: ConnectionContext
    /// Retains this connection until it is closed, and therefore outlives it.
    private let loop: EventLoop
    private var machine: ConnectionStateMachine
    /// Makes the response that the client waits for.
    private var task: Task<Void, Never>?
    /// Whether the socket may have more to read; epoll reports that once (edge-triggered).
    private var isReadable = false
    /// Whether the loop has postponed it.
    private var isPostponed = false
    /// Whether the connection is in the loop's list of those that may be idle.
    private var isEnlisted: Bool

    init(number: UInt64, socket: CInt, peer: PeerAddress, isRestricted: Bool, loop: EventLoop) {
        self.number = number
        self.socket = socket
        self.peer = peer
        acceptedAt = loop.now
        self.isRestricted = isRestricted
        self.loop = loop
        context = loop.context
        // Restricted connections are in a list of their own.
        isEnlisted = isRestricted
        machine = ConnectionStateMachine(peer, isRestricted: isRestricted, at: loop.now, loop.context)
    }

    // MARK: - Events

    /// Hot path: the socket has octets to read or free space, or has ended.
    ///
    /// A client that resets the connection, or answers a probe with a reset, causes EPOLLERR. One that closes or half-closes
    /// sends a FIN: EPOLLRDHUP, which does not say which of the two, and is probed while an answer is made. EPOLLHUP follows
    /// once the server has half-closed, too.
    func handle(_ events: UInt32) {
        if events & EPOLLERR.rawValue != 0 { return machine.reset(self) }
        if events & EPOLLHUP.rawValue != 0 { return machine.bothSidesClosed(at: loop.now, self) }
        if events & EPOLLOUT.rawValue != 0 { machine.writable(at: loop.now, self) }
        if events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0 { isReadable = true }
        if events & EPOLLRDHUP.rawValue != 0 { machine.halfClose() }
        proceed()
    }

    /// Reads octets that epoll has not reported yet, and answers the requests in them.
    func readNow() {
        isReadable = true
        proceed()
    }

    /// Resumes after other connections have had their turn.
    func resume() {
        isPostponed = false
        proceed()
    }

    /// A task has its response.
    func deliver(_ response: HTTPResponse, answerNumber: UInt64) {
        if machine.deliver(response, answerNumber: answerNumber, at: loop.now, self) { proceed() }
    }

    /// A streamed body has more bytes.
    func wakeStream() {
        if machine.wake(at: loop.now, self) { proceed() }
    }

    /// Closes or refuses what has exceeded its deadline.
    func checkDeadline() {
        switch machine.checkDeadline(at: loop.now, self) {
        case .done: return
        case .resume: proceed()
        case .endUnlessRequested:
            readNow()
            machine.endUnlessRequested(self)
        }
    }

    /// The server drains.
    func drain() { machine.drain(at: loop.now, self) }

    /// Closes the connection, and cancels the task that the client waits for.
    func cut() { machine.cut(self) }

    /// Hot path: reads at most one buffer of octets, and answers requests as fast as the client reads the
    /// answers.
    private func proceed() {
        guard machine.resume(at: loop.now, self) else { return postpone() }
        if isReadable, machine.takesInput {
            receive()
            guard machine.consumeStored(self), !(isReadable && machine.takesInput) else { return postpone() }
        }
        machine.finishInput(self)
    }

    private func receive() {
        let count = unsafe loop.receive(from: socket) { unsafe machine.receive($0, at: loop.now, self) }
        if count <= 0 {
            isReadable = false
            if count == 0 || errno != EAGAIN { machine.endInput() }
        } else if count < EventLoop.receiveBytes, !machine.isHalfClosed {
            // Otherwise the end was reported together with these octets, and is not reported again.
            isReadable = false
        }
    }

    // MARK: - For eviction

    var isClosed: Bool { machine.phase == .closed }

    /// Whether a task makes the answer.
    var hasTask: Bool { task != nil }

    /// Whether a request has been answered.
    var hasServed: Bool { machine.hasServed }

    /// Whether the client reads its answer more slowly than it is sent.
    var isBehind: Bool { !machine.isOutputEmpty }

    /// Whether no answer is being made or sent.
    var mayBeEvicted: Bool { machine.mayBeEvicted }

    /// Whether the last answer has been sent, and the connection only waits for the client's FIN.
    var isLingering: Bool { machine.isLingering }

    /// Whether the connection can be closed in favour of another one.
    var idleness: ConnectionStateMachine.Idleness { isRestricted ? .busy : machine.idleness(self) }

    /// When an idle connection began to wait.
    var idleSince: UInt64 { machine.deadline.begin(context.times) }

    /// The loop has removed the connection from those that may be idle.
    func leaveIdleQueue() { isEnlisted = false }
}

// MARK: - Actions

extension Connection: ConnectionDriver {
    var unacknowledgedOctets: Int { Int(linux_unacknowledged(socket)) }

    var isAtEndOfInput: Bool {
        var octet: UInt8 = 0
        return unsafe recv(socket, &octet, 1, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT)) == 0
    }

    func finishSending() { shutdown(socket, CInt(SHUT_WR)) }

    func resetOnClose() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(
            socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    }

    func close() { loop.remove(self) }

    var time: UInt64 { loop.time }

    func postpone() {
        guard !isPostponed else { return }
        isPostponed = true
        loop.postpone(number)
    }

    func enlist() {
        guard !isEnlisted else { return }
        isEnlisted = true
        loop.enlist(number)
    }

    var mayStartVitalTask: Bool { loop.mayStartVitalTask }

    func startTask(_ work: @escaping @Sendable () async -> HTTPResponse, answerNumber: UInt64) {
        let (inbox, number) = (loop.inbox, number)
        task = Task {
            let response = await work()
            inbox.post(.answer(connection: number, answerNumber: answerNumber, response))
        }
        loop.awaitedAnswers += 1
    }

    func finishTask() {
        task = nil
        loop.awaitedAnswers -= 1
    }

    func cancelTask() {
        task?.cancel()
        finishTask()
    }

    var wake: @Sendable () -> Void {
        { [inbox = loop.inbox, number] in inbox.post(.wake(connection: number)) }
    }

    func reject(_ reason: HTTPServer.RejectionReason) { loop.reject(reason) }

    func report(_ exchange: inout HTTPExchange) { loop.report(&exchange) }

    /// A single piece is cheaper without a list of pieces. `MSG_MORE` lets the kernel join a head with the
    /// file that follows.
    func send(_ pieces: inout SendQueue.Vectors, _ count: Int, hasMore: Bool) -> SendResult {
        let flags = CInt(MSG_NOSIGNAL) | (hasMore ? CInt(MSG_MORE) : 0)
        if count == 1 {
            return Self.result {
                unsafe Glibc.send(socket, pieces[0].iov_base, pieces[0].iov_len, flags)
            }
        }
        var span = unsafe pieces.mutableSpan
        return unsafe span.withUnsafeMutableBufferPointer { pointer in
            var message = unsafe msghdr()
            unsafe message.msg_iov = pointer.baseAddress
            unsafe message.msg_iovlen = count
            return Self.result { unsafe sendmsg(socket, &message, flags) }
        }
    }

    func sendFile(_ file: CInt, _ range: Range<Int64>) -> SendResult {
        Self.result {
            var position = off_t(range.lowerBound)
            return unsafe sendfile(socket, file, &position, range.count)
        }
    }

    @inline(__always)
    private static func result(_ call: () -> Int) -> SendResult {
        let count = retryingOnInterrupt(call)
        if count >= 0 { return .took(count) }
        switch errno {
        case EAGAIN: return .blocked
        case ECONNRESET, EPIPE: return .reset
        default: return .failed
        }
    }
}
