// SPDX-License-Identifier: Apache-2.0

import CLinux
import Dispatch
import Glibc
import Synchronization

/// One event loop: a serial queue with one Dispatch source on the loop's own epoll set, which holds all its sockets.
///
/// Dispatch watches a single descriptor, so a wake-up serves a whole batch of sockets. The handler lingers in epoll_wait
/// for a moment before it gives its thread back, since the next event usually follows at once.
// Safe because all mutable state is touched on `queue` alone, which `turn` and `run` check; the rest is immutable or locked.
final class EventLoop: @unchecked Sendable {
    let configuration: HTTPServer.Configuration
    let handler: any RequestHandling
    let inbox: LoopInbox
    let load = Atomic<Int>(0)
    var encoder = ResponseEncoder()
    private(set) var now: UInt64 = 0
    private(set) var isDraining = false

    private let tally: ServerTally
    private let date: @Sendable (Int64) -> [UInt8]
    private let queue: DispatchQueue
    private let epoll: CInt
    private let timer: CInt
    private var source: (any DispatchSourceRead)?
    private var connections: [UInt64: Connection] = [:]
    private var nextNumber: UInt64 = Token.firstConnection
    private var buffer = [UInt8](repeating: 0, count: receiveBytes)
    private var dateSecond: Int64 = -1
    private var drained: [CheckedContinuation<Void, Never>] = []

    /// Most bytes read from a socket at once.
    static let receiveBytes = 65_536
    /// Most events taken from the kernel at once.
    private static let batch = 64
    /// How often deadlines are looked at, in milliseconds.
    private static let tick = 250

    /// What an epoll event is about.
    private enum Token {
        static let inbox: UInt64 = 0
        static let timer: UInt64 = 1
        static let firstConnection: UInt64 = 2
    }

    init(
        index: Int, configuration: HTTPServer.Configuration, handler: any RequestHandling, tally: ServerTally,
        date: @escaping @Sendable (Int64) -> [UInt8]
    ) throws(SocketError) {
        self.configuration = configuration
        self.handler = handler
        self.tally = tally
        self.date = date
        queue = DispatchQueue(label: "event-loop-\(index)", qos: .userInteractive)
        epoll = try check("epoll_create1", epoll_create1(CInt(EPOLL_CLOEXEC)))
        timer = try check("timerfd_create", timerfd_create(CLOCK_MONOTONIC, CInt(TFD_CLOEXEC | TFD_NONBLOCK)))
        inbox = try LoopInbox()
        try watch(inbox.descriptor, Token.inbox, EPOLLIN.rawValue)
        try watch(timer, Token.timer, EPOLLIN.rawValue)
        var interval = itimerspec()
        interval.it_interval.tv_nsec = Self.tick * 1_000_000
        interval.it_value.tv_nsec = Self.tick * 1_000_000
        _ = try check("timerfd_settime", unsafe timerfd_settime(timer, 0, &interval, nil))
    }

    deinit {
        close(epoll)
        close(timer)
    }

    /// Begins to serve.
    func start() {
        let source = DispatchSource.makeReadSource(fileDescriptor: epoll, queue: queue)
        source.setEventHandler { @Sendable [unowned self] in turn() }
        self.source = source
        source.activate()
    }

    // MARK: - One turn

    /// Serves events until none has come for the linger time.
    private func turn() {
        var linger = CInt(0)
        while true {
            var events = unsafe InlineArray<64, epoll_event>(repeating: epoll_event())
            var span = unsafe events.mutableSpan
            let (epoll, timeout) = (epoll, linger)
            let count = unsafe span.withUnsafeMutableBufferPointer {
                unsafe epoll_wait(epoll, $0.baseAddress, CInt(Self.batch), timeout)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            readClocks()
            for index in 0..<Int(count) { unsafe serve(events[index]) }
            linger = CInt(configuration.lingerMilliseconds)
        }
    }

    private func readClocks() {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        now = UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        unsafe clock_gettime(CLOCK_REALTIME_COARSE, &time)
        guard Int64(time.tv_sec) != dateSecond else { return }
        dateSecond = Int64(time.tv_sec)
        encoder.dateLine = Array("Date: ".utf8) + date(dateSecond) + Array("\r\n".utf8)
    }

    private func serve(_ event: epoll_event) {
        switch unsafe event.data.u64 {
        case Token.inbox: for message in inbox.take() { run(message) }
        case Token.timer: tick()
        case let number: unsafe connections[number]?.handle(event.events)
        }
    }

    private func tick() {
        var expirations: UInt64 = 0
        _ = unsafe read(timer, &expirations, 8)
        for connection in Array(connections.values) { connection.checkDeadline(at: now) }
    }

    private func run(_ message: LoopInbox.Message) {
        switch message {
        case .connection(let socket): adopt(socket)
        case .answer(let number, let sequence, let response):
            connections[number]?.deliver(response, for: sequence)
        case .drain(let continuation):
            isDraining = true
            drained.append(continuation)
            for connection in Array(connections.values) { connection.drain() }
            finishDrainIfEmpty()
        case .cut: for connection in Array(connections.values) { connection.handle(EPOLLHUP.rawValue) }
        case .ping(let continuation): continuation.resume()
        }
    }

    // MARK: - For connections

    /// Reads what is there, up to the buffer's size, and lends it; returns recv(2)'s result.
    func receive(from socket: CInt, _ take: (Slice<UnsafeRawBufferPointer>) -> Void) -> Int {
        unsafe buffer.withUnsafeMutableBytes { bytes in
            while true {
                let count = unsafe recv(socket, bytes.baseAddress, bytes.count, 0)
                if count < 0 && errno == EINTR { continue }
                if count > 0 { unsafe take(UnsafeRawBufferPointer(bytes)[..<count]) }
                return count
            }
        }
    }

    /// Counts a refusal.
    func reject(_ reason: HTTPServer.RejectionReason) { tally.reject(reason) }

    /// How long a connection without a request is kept.
    func idleTime(_ hasServed: Bool) -> UInt64 {
        (hasServed ? configuration.idleTimeout : configuration.headerTimeout).nanoseconds
    }

    /// Forgets a connection that has ended, and closes its socket.
    func remove(_ connection: Connection) {
        connections[connection.number] = nil
        close(connection.socket)
        load.subtract(1, ordering: .relaxed)
        tally.closed()
        finishDrainIfEmpty()
    }

    private func adopt(_ socket: CInt) {
        nextNumber += 1
        let connection = Connection(number: nextNumber, socket: socket, loop: self)
        connections[nextNumber] = connection
        let events = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        do throws(SocketError) {
            try watch(socket, nextNumber, events)
        } catch {
            remove(connection)
        }
    }

    private func finishDrainIfEmpty() {
        guard isDraining, connections.isEmpty else { return }
        for continuation in drained { continuation.resume() }
        drained = []
    }

    private func watch(_ descriptor: CInt, _ token: UInt64, _ events: UInt32) throws(SocketError) {
        var event = unsafe epoll_event(events: events, data: epoll_data_t(u64: token))
        _ = try check("epoll_ctl", unsafe epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event))
    }
}

extension Duration {
    /// The whole length in nanoseconds.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        return UInt64(max(0, seconds)) * 1_000_000_000 + UInt64(max(0, attoseconds) / 1_000_000_000)
    }
}
