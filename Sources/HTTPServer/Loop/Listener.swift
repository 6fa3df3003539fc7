// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Synchronization

/// A listening socket, which every loop watches; the kernel wakes one of them for each connection (EPOLLEXCLUSIVE).
final class Listener: Sendable {
    /// The address as bound.
    let address: HTTPServer.Address
    /// The listener's place among the server's.
    let number: Int
    let socket: CInt
    /// Whether another process opened it, and continues to listen on it: systemd.
    let isInherited: Bool
    /// Whether the path of a unix socket still belongs to this one; at the end of a drain another daemon may
    /// have replaced it.
    private let hasPath: Atomic<Bool>

    /// The result of accept(2).
    enum Outcome {
        case connection(CInt, PeerAddress)
        case none
        /// No descriptor or no memory is left; the backlog waits until some are free.
        case outOfDescriptors
    }

    init(_ address: HTTPServer.Address, number: Int) throws(SocketError) {
        (socket, self.address) = try address.bindAndListen()
        self.number = number
        isInherited = false
        hasPath = Atomic(true)
    }

    /// Takes over a socket that listens already.
    init(inherited socket: CInt, number: Int) throws(SocketError) {
        address = try HTTPServer.Address(ofListening: socket)
        self.socket = socket
        self.number = number
        isInherited = true
        hasPath = Atomic(false)
    }

    deinit {
        close(socket)
        removePath()
    }

    private func removePath() {
        guard case .unix(let path) = address, hasPath.exchange(false, ordering: .relaxed) else { return }
        unsafe unlink(path)
    }

    /// Stops new connections; established ones, and handshakes that have begun, still reach `accept`.
    ///
    /// close(2) resets the connections in the backlog. So the backlog is closed for new ones first, and
    /// emptied: clients of a unix socket are refused at once, SYN segments are dropped, so that their clients
    /// retry a second later and are refused then. Does nothing to an inherited socket: its backlog belongs to
    /// the next process.
    func refuseNewConnections() {
        guard !isInherited else { return }
        switch address {
        case .unix:
            removePath()
            // Does not drop the backlog, unlike with TCP.
            shutdown(socket, CInt(SHUT_RD))
        case .tcp:
            // Lost, if the kernel has no such filter: connections between the last accept(2) and close(2).
            _ = linux_ignore_new_connections(socket)
        }
    }

    /// Whether the backlog of a listener without new connections can't grow any more.
    var isComplete: Bool {
        if case .unix = address { true } else { false }
    }

    /// Whether a connection waits in the backlog; uses no descriptor.
    var hasConnection: Bool {
        var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&descriptor, 1, 0) > 0
    }

    /// Takes one connection from the backlog.
    func accept() -> Outcome {
        var storage = sockaddr_storage()
        while true {
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let accepted = unsafe withUnsafeMutableBytes(of: &storage) { bytes in
                unsafe linux_accept4(
                    socket, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length,
                    LINUX_SOCK_NONBLOCK | LINUX_SOCK_CLOEXEC)
            }
            if accepted >= 0 {
                let peer = PeerAddress(storage)
                if peer != .unix { Self.sendAtOnce(accepted) }
                return .connection(accepted, peer)
            }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EMFILE, ENFILE, ENOMEM, ENOBUFS: return .outOfDescriptors
            default: return .none
            }
        }
    }

    /// Answers 503 and closes, when there are too many connections already.
    static func refuse(_ socket: CInt) {
        let refusal = Array(
            "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                .utf8)
        // Lost: the answer, if the socket's empty buffer does not take 90 bytes; the client sees a closed
        // connection.
        _ = unsafe send(socket, refusal, refusal.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
        close(socket)
    }

    private static func sendAtOnce(_ socket: CInt) {
        var on: CInt = 1
        unsafe setsockopt(socket, CInt(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
    }
}

/// A loop's share of accepting: the listeners it watches, and until when it pauses for lack of descriptors.
struct Acceptor {
    var listeners: [Listener] = []
    /// The numbers of those that pause.
    private var paused: Set<Int> = []
    /// When accepting continues, on the loop's clock; 0 while it does not pause.
    private(set) var pausedUntil: UInt64 = 0

    /// Connections accepted in one turn before other sockets have theirs.
    static let batch = 16
    /// How long accepting pauses when descriptors are exhausted, in nanoseconds.
    static let pause: UInt64 = 100_000_000

    /// Pauses a listener, and extends the pause of those that pause already.
    mutating func pause(_ listener: Listener, until time: UInt64) {
        paused.insert(listener.number)
        pausedUntil = time
    }

    /// Ends a pause that is over, and returns the listeners to watch again.
    mutating func resumed(until now: UInt64) -> [Listener] {
        guard pausedUntil > 0, now >= pausedUntil else { return [] }
        pausedUntil = 0
        defer { paused = [] }
        return listeners.filter { paused.contains($0.number) }
    }
}

/// A client that has been accepted, and belongs to no loop yet.
struct AcceptedSocket: Sendable {
    /// Its socket, which a loop must adopt or close.
    var socket: CInt
    let peer: PeerAddress
    /// Whether its descriptor is one that is left to libraries, or comes from the reserve, because no other
    /// was free.
    var isWithoutDescriptor: Bool
    /// The number of loops that have been tried.
    var loopsTried = 0
}
