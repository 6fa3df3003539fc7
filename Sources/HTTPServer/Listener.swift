// SPDX-License-Identifier: Apache-2.0

import CLinux
import Dispatch
import Glibc
import Synchronization

/// Accepts connections on one address and hands each to the loop that has the fewest.
// Safe because `source` is set once before it is activated, and everything else is immutable.
final class Listener: @unchecked Sendable {
    /// The address as bound.
    let address: HTTPServer.Address
    private let socket: CInt
    private let loops: [EventLoop]
    private let tally: ServerTally
    private let maxConnections: Int
    private let queue = DispatchQueue(label: "listener")
    private var source: (any DispatchSourceRead)?

    /// Connections accepted in one turn before others get theirs.
    private static let batch = 64
    /// How long accepting rests when descriptors have run out, in milliseconds.
    private static let pause = 100

    init(
        _ address: HTTPServer.Address, loops: [EventLoop], tally: ServerTally, maxConnections: Int
    ) throws(SocketError) {
        let (socket, bound) = try address.bindAndListen()
        self.socket = socket
        self.address = bound
        self.loops = loops
        self.tally = tally
        self.maxConnections = maxConnections
    }

    deinit {
        close(socket)
    }

    func start() {
        let source = DispatchSource.makeReadSource(fileDescriptor: socket, queue: queue)
        source.setEventHandler { @Sendable [unowned self] in accept() }
        self.source = source
        source.activate()
    }

    /// Stops accepting; what waits in the backlog is refused by the kernel.
    func stop() {
        source?.cancel()
        if case .unix(let path) = address { unsafe unlink(path) }
    }

    private func accept() {
        for _ in 0..<Self.batch {
            let accepted = linux_accept4(
                socket, nil, nil, CInt(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue))
            guard accepted >= 0 else {
                if errno == EMFILE || errno == ENFILE || errno == ENOMEM { rest() }
                if errno == EINTR || errno == ECONNABORTED { continue }
                return
            }
            admit(accepted)
        }
    }

    private func admit(_ accepted: CInt) {
        guard tally.opened(limit: maxConnections),
            let loop = loops.min(by: { $0.currentLoad < $1.currentLoad })
        else {
            tally.reject(.tooManyConnections)
            let refusal = Array(
                "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                    .utf8)
            _ = unsafe send(accepted, refusal, refusal.count, CInt(MSG_NOSIGNAL | MSG_DONTWAIT))
            close(accepted)
            return
        }
        if case .tcp = address {
            var on: CInt = 1
            unsafe setsockopt(
                accepted, CInt(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
        }
        loop.load.add(1, ordering: .relaxed)
        loop.inbox.post(.connection(accepted))
    }

    /// No descriptor is left: the backlog waits until some have come back.
    private func rest() {
        tally.reject(.outOfDescriptors)
        source?.suspend()
        queue.asyncAfter(deadline: .now() + .milliseconds(Self.pause)) { [self] in source?.resume() }
    }
}

extension EventLoop {
    /// Connections of this loop.
    var currentLoad: Int { load.load(ordering: .relaxed) }
}
