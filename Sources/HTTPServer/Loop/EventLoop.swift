// SPDX-License-Identifier: Apache-2.0

import CLinux
import Dispatch
import Glibc
import Synchronization

/// One event loop: a serial queue with one Dispatch source on the loop's own epoll set, which contains all
/// its sockets.
///
/// Dispatch watches a single descriptor, so one wake-up serves a whole batch of sockets. The handler stays in
/// epoll_wait for a moment before it returns its thread, since the next event usually follows at once.
/// Safe because all mutable state is used on `queue` alone, by `turn` and what it calls; the rest is
/// immutable or locked.
final class EventLoop: @unchecked Sendable {
    let index: Int
    let configuration: HTTPServer.Configuration
    /// What its connections share.
    let context: ConnectionContext
    let inbox: LoopInbox
    private(set) var now: UInt64 = 0
    /// The present time, in nanoseconds.
    var time: UInt64 { clock.now }
    private var hasEnded = false

    let tally: ServerTally
    let balance: LoopBalance
    let reserve: DescriptorReserve
    private let clock: LoopClock
    private let date: @Sendable (Int64) -> [UInt8]
    private let queue: DispatchQueue
    private let epoll: CInt
    let timer: LoopTimer
    private var source: (any DispatchSourceRead)?
    var connections = ConnectionTable()
    var acceptor = Acceptor()
    private var buffer = [UInt8](repeating: 0, count: receiveBytes)
    private var dateSecond: Int64 = -1
    private var drained: [CheckedContinuation<Void, Never>] = []
    /// Connections above the limit, or with a descriptor from the reserve, which serve health checks; the
    /// oldest first.
    var restricted: [UInt64] = []
    /// Other connections that may be idle.
    var idle = IdleQueue()
    /// The number of answers that handlers' tasks have yet to return.
    var awaitedAnswers = 0
    /// Connections that have more to read or to send than one turn allows, each once.
    private var postponed: [UInt64] = []

    /// The maximum number of bytes read from a socket at once.
    static let receiveBytes = 65_536
    /// The maximum number of events read from the kernel at once.
    private static let batch = 64

    init(
        index: Int, configuration: HTTPServer.Configuration, handler: any RequestHandling, tally: ServerTally,
        balance: LoopBalance, reserve: DescriptorReserve, clock: LoopClock,
        date: @escaping @Sendable (Int64) -> [UInt8]
    ) throws(SocketError) {
        self.index = index
        self.configuration = configuration
        context = ConnectionContext(configuration, handler: handler, loopIndex: index)
        self.tally = tally
        self.balance = balance
        self.reserve = reserve
        self.clock = clock
        self.date = date
        queue = DispatchQueue(label: "event-loop-\(index)", qos: .userInteractive)
        epoll = try check("epoll_create1", epoll_create1(CInt(EPOLL_CLOEXEC)))
        timer = try LoopTimer(interval: configuration.checkInterval)
        inbox = try LoopInbox()
        try watch(inbox.descriptor, Token.inbox, EPOLLIN.rawValue)
        try watch(timer.descriptor, Token.timer, EPOLLIN.rawValue)
    }

    deinit {
        close(epoll)
    }

    /// Starts to serve the connections of `listeners`.
    func start(_ listeners: [Listener]) throws(SocketError) {
        for listener in listeners { try watch(listener) }
        acceptor.listeners = listeners
        let source = DispatchSource.makeReadSource(fileDescriptor: epoll, queue: queue)
        // Both retain the loop until its end, when Dispatch releases the handlers, and with them the loop.
        source.setEventHandler { @Sendable [self] in turn() }
        source.setCancelHandler { @Sendable [self] in connections = ConnectionTable() }
        self.source = source
        source.activate()
    }

    // MARK: - One turn

    /// Serves events until none has occurred for the linger time.
    private func turn() {
        var linger = CInt(0)
        while !hasEnded {
            var events = unsafe InlineArray<64, epoll_event>(repeating: epoll_event())
            var span = unsafe events.mutableSpan
            let (epoll, timeout) = (epoll, linger)
            let count = unsafe span.withUnsafeMutableBufferPointer { events in
                retryingOnInterrupt {
                    unsafe epoll_wait(epoll, events.baseAddress, CInt(Self.batch), timeout)
                }
            }
            guard count > 0 || !postponed.isEmpty else { return }
            readClocks()
            for index in 0..<max(0, Int(count)) { unsafe serve(events[index]) }
            servePostponed()
            linger = postponed.isEmpty ? CInt(lingerMilliseconds) : 0
        }
    }

    /// While an answer is awaited the loop waits for it itself: Dispatch would use two more threads to
    /// announce it.
    private var lingerMilliseconds: Int {
        awaitedAnswers > 0 ? configuration.lingerWhileAwaitingMilliseconds : configuration.lingerMilliseconds
    }

    /// Resumes connections that yielded to others.
    private func servePostponed() {
        guard !postponed.isEmpty else { return }
        let numbers = postponed
        postponed = []
        for number in numbers {
            connections[number]?.resume()
        }
    }

    private func readClocks() {
        now = clock.now
        let second = Int64(LoopClock.nanoseconds(of: CLOCK_REALTIME_COARSE) / 1_000_000_000)
        guard second != dateSecond else { return }
        dateSecond = second
        // A text that is not a field value is not sent, whatever its source.
        guard let value = FieldValue(date(dateSecond)) else { return context.encoder.dateLine = [] }
        context.encoder.dateLine = Array("Date: ".utf8) + value.bytes + Array("\r\n".utf8)
    }

    private func serve(_ event: epoll_event) {
        let token = unsafe event.data.u64
        switch token {
        case Token.inbox: for message in inbox.take() { run(message) }
        case Token.timer: tick()
        case _ where token & Token.listener != 0: accept(from: Int(token & ~Token.listener))
        default: unsafe connections[token]?.handle(event.events)
        }
    }

    private func tick() {
        timer.acknowledge()
        reserve.refill()
        for listener in acceptor.resumed(until: now) where !context.isDraining || !listener.isInherited {
            rewatch(listener)
        }
        for connection in connections.all { connection.checkDeadline() }
        if connections.isEmpty, acceptor.pausedUntil == 0 { timer.stop() }
    }

    private func run(_ message: LoopInbox.Message) {
        switch message {
        case .connection(let socket, _, _) where hasEnded: close(socket)
        case .accepted(let accepted) where hasEnded: close(accepted.socket)
        case .accepted(let accepted): admit(accepted)
        case .connection(let socket, let peer, let isRestricted):
            adopt(socket, peer, isRestricted: isRestricted)
        case .answer(let number, let answerNumber, let response):
            connections[number]?.deliver(response, answerNumber: answerNumber)
        case .wake(let number): connections[number]?.wakeStream()
        case .beginDrain(let continuation):
            context.isDraining = true
            for connection in connections.all { connection.drain() }
            // The rest of its backlog is accepted now: from now on the listener would be reported as readable
            // all the time.
            for listener in acceptor.listeners where listener.isComplete || listener.isInherited {
                unwatch(listener)
                if !listener.isInherited { acceptAll(from: listener) }
            }
            continuation.resume()
        case .emptyBacklogs(let continuation):
            let own = acceptor.listeners.filter { !$0.isInherited }
            let isEmpty = own.map { acceptAll(from: $0) }.allSatisfy(\.self)
            continuation.resume(returning: isEmpty)
        case .stopAccepting(let continuation):
            for listener in acceptor.listeners { unwatch(listener) }
            acceptor = Acceptor()
            continuation.resume()
        case .awaitEnd(let continuation):
            drained.append(continuation)
            finishDrainIfEmpty()
        case .cut: for connection in connections.all { connection.cut() }
        case .ping(let continuation): continuation.resume()
        case .end: end()
        }
    }

    /// The server has been released: cuts the remaining connections, and releases itself.
    private func end() {
        for connection in connections.all { connection.cut() }
        for listener in acceptor.listeners { unwatch(listener) }
        acceptor = Acceptor()
        hasEnded = true
        source?.cancel()
        source = nil
    }

    // MARK: - For connections

    /// Hot path: reads what the socket has, up to the buffer's size, and passes it to `take`; returns
    /// recv(2)'s result.
    func receive(from socket: CInt, _ take: (UnsafeRawBufferPointer) -> Void) -> Int {
        unsafe buffer.withUnsafeMutableBytes { bytes in
            let count = retryingOnInterrupt { unsafe recv(socket, bytes.baseAddress, bytes.count, 0) }
            if count > 0 { unsafe take(UnsafeRawBufferPointer(rebasing: bytes[..<count])) }
            return count
        }
    }

    /// Resumes a connection after the others have had their turn.
    func postpone(_ number: UInt64) { postponed.append(number) }

    /// Hot path: reports to the handler how an exchange ended.
    func report(_ exchange: inout HTTPExchange) {
        exchange.finishedAt = clock.now
        context.handler.didFinish(exchange)
    }

    /// Counts a refusal.
    func reject(_ reason: HTTPServer.RejectionReason) { tally.reject(reason) }

    /// Removes a connection that has ended, and closes its socket.
    func remove(_ connection: Connection) {
        connections.remove(connection.number)
        if connection.isRestricted {
            reserve.close(orKeep: connection.socket)
        } else {
            close(connection.socket)
        }
        balance.leave(index)
        tally.leave(connection.isRestricted ? .restricted : .ordinary, of: connection.peer)
        configuration.connectionsChanged(-1)
        finishDrainIfEmpty()
    }

    private func finishDrainIfEmpty() {
        guard !drained.isEmpty, connections.isEmpty else { return }
        for continuation in drained { continuation.resume() }
        drained = []
    }

    // MARK: - The epoll set

    /// What an epoll event concerns; connections use their numbers, which begin above.
    private enum Token {
        static let inbox: UInt64 = 0
        static let timer: UInt64 = 1
        static let listener: UInt64 = 1 << 63
    }

    private func watch(_ listener: Listener) throws(SocketError) {
        try watch(
            listener.socket, Token.listener | UInt64(listener.number),
            EPOLLIN.rawValue | EPOLLEXCLUSIVE.rawValue)
    }

    /// As `watch`, for a listener that was watched before: the set had space for it.
    private func rewatch(_ listener: Listener) {
        do throws(SocketError) {
            try watch(listener)
        } catch {
            acceptor.pause(listener, until: now + Acceptor.pause)
        }
    }

    func unwatch(_ listener: Listener) {
        epoll_ctl(epoll, EPOLL_CTL_DEL, listener.socket, nil)
    }

    func watch(_ descriptor: CInt, _ token: UInt64, _ events: UInt32) throws(SocketError) {
        var event = unsafe epoll_event(events: events, data: epoll_data_t(u64: token))
        _ = try check("epoll_ctl", unsafe epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event))
    }
}
