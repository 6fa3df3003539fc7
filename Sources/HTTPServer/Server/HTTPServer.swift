// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A small HTTP/1.1 server on epoll: one event loop a core, answers now or later, bodies from memory or files.
///
/// ```swift
/// final class Hello: RequestHandling {
///     func answer(_ request: HTTPRequest) -> HTTPAnswer {
///         var response = HTTPResponse(status: .ok)
///         response.body = .bytes(Array("hello\n".utf8))
///         return .now(response)
///     }
///     func didFinish(_ exchange: HTTPExchange) {}
/// }
/// let server = try HTTPServer(configuration: .init(), handler: Hello())
/// let bound = try server.listen(on: [.tcp(host: "127.0.0.1", port: 0)])
/// try server.start()
/// ```
public final class HTTPServer: Sendable {
    private let tally: ServerTally
    let balance: LoopBalance
    private let loops: [EventLoop]
    private let listeners = Mutex<[Listener]>([])

    /// Creates the loops.
    /// - Parameters:
    ///   - configuration: bounds, times and the number of loops.
    ///   - handler: what answers requests; called on the loops.
    ///   - date: formats seconds since 1970 for the `Date` field; called once a second by each loop.
    public convenience init(
        configuration: Configuration, handler: any RequestHandling,
        date: @escaping @Sendable (Int64) -> [UInt8] = ServerDate.imfFixdate
    ) throws(SocketError) {
        try self.init(configuration: configuration, handler: handler, clock: .system, date: date)
    }

    /// Creates the loops; timeouts pass by `clock`.
    init(
        configuration: Configuration, handler: any RequestHandling, clock: LoopClock,
        date: @escaping @Sendable (Int64) -> [UInt8] = ServerDate.imfFixdate
    ) throws(SocketError) {
        let count = max(1, configuration.loops)
        balance = LoopBalance(loops: count)
        tally = ServerTally(configuration)
        let reserve = DescriptorReserve(
            size: min(configuration.reservedConnections, configuration.reservedDescriptors))
        var loops: [EventLoop] = []
        for index in 0..<count {
            let loop = try EventLoop(
                index: index, configuration: configuration, handler: handler, tally: tally, balance: balance,
                reserve: reserve, clock: clock, date: date)
            balance.join(loop.inbox)
            loops.append(loop)
        }
        self.loops = loops
    }

    /// Cuts the remaining connections.
    deinit {
        for loop in loops { loop.inbox.post(.end) }
    }

    /// Binds; returns the addresses as bound. Connections wait in the backlog until `start`.
    public func listen(on addresses: [Address]) throws(SocketError) -> [Address] {
        var bound: [Address] = []
        for address in addresses {
            let listener = try Listener(address, number: listeners.withLock(\.count))
            listeners.withLock { $0.append(listener) }
            bound.append(listener.address)
        }
        return bound
    }

    /// Takes over a socket that listens already, and on which the process that opened it continues to listen;
    /// the server owns it from now on.
    ///
    /// A drain leaves its backlog to the next process, and a unix socket's path stays.
    /// - Returns: the address that it is bound to.
    public func adopt(socket: CInt) throws(SocketError) -> Address {
        let listener = try Listener(inherited: socket, number: listeners.withLock(\.count))
        listeners.withLock { $0.append(listener) }
        return listener.address
    }

    /// Starts to serve.
    public func start() throws(SocketError) {
        let listeners = listeners.withLock { $0 }
        for loop in loops { try loop.start(listeners) }
    }

    /// Accepts no new connections, answers the requests of existing ones, each answer the last of its
    /// connection, and closes idle ones within `drainGrace`; what is left after `time` is cut.
    ///
    /// Connections in a backlog, or whose handshake is in progress, count as existing ones.
    public func drain(within time: Duration) async { await drain(within: time, by: ContinuousClock()) }

    /// Drains; waits by `clock`.
    func drain<C: Clock>(within time: Duration, by clock: C) async where C.Duration == Duration {
        let end = clock.now.advanced(by: time)
        for listener in listeners.withLock({ $0 }) { listener.refuseNewConnections() }
        for loop in loops { await withCheckedContinuation { loop.inbox.post(.beginDrain($0)) } }
        let cutter = Task { [loops] in
            try await clock.sleep(until: end, tolerance: nil)
            while true {
                for loop in loops { loop.inbox.post(.cut) }
                // Another loop may accept a connection from a backlog at this moment.
                try await clock.sleep(for: Self.pause)
            }
        }
        await emptyBacklogs(until: end, by: clock)
        for loop in loops { await withCheckedContinuation { loop.inbox.post(.stopAccepting($0)) } }
        // Closes the sockets, whose backlogs are empty.
        listeners.withLock { $0 = [] }
        // All at once: a slow client of one loop must not prevent the others from informing theirs.
        await withTaskGroup(of: Void.self) { group in
            for loop in loops {
                group.addTask { await withCheckedContinuation { loop.inbox.post(.awaitEnd($0)) } }
            }
        }
        cutter.cancel()
    }

    /// How long handshakes that have begun may take when the server drains: a round trip to nearly anywhere.
    static let handshakeTime = Duration.milliseconds(250)
    /// How long a drain waits for descriptors before it retries.
    private static let pause = Duration.milliseconds(50)

    private func emptyBacklogs<C: Clock>(until end: C.Instant, by clock: C) async
    where C.Duration == Duration {
        guard let loop = loops.first else { return }
        let hasNoHandshakes = listeners.withLock { $0.allSatisfy { $0.isComplete || $0.isInherited } }
        var pause = hasNoHandshakes ? .zero : Self.handshakeTime
        repeat {
            // Ignored: that the task was cancelled; the backlogs are emptied without the pause then.
            try? await clock.sleep(until: min(clock.now.advanced(by: pause), end), tolerance: nil)
            pause = Self.pause
        } while await !withCheckedContinuation({ loop.inbox.post(.emptyBacklogs($0)) }) && clock.now < end
    }

    /// Numbers for the metrics.
    public var counts: Counts { tally.snapshot }

    /// Waits until every loop has answered: none of them is stuck.
    public func ping() async {
        for index in loops.indices { await ping(loop: index) }
    }

    /// How many loops there are.
    public var loopCount: Int { loops.count }

    /// Waits until one loop has answered.
    public func ping(loop index: Int) async {
        await withCheckedContinuation { loops[index].inbox.post(.ping($0)) }
    }
}
