// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Synchronization

/// A socket of a `FakeOrigin`: every wait also ends when its gate opens or its peer disconnects.
final class OriginSocket: Sendable {
    /// A system call failed.
    struct Failure: Error {
        let call: String
        let code: CInt
    }

    private struct State {
        var hasPeerLeft = false
        var isOpen = true
        var unread: [UInt8] = []
    }

    /// POLLRDHUP, which needs _GNU_SOURCE: the peer has closed its side.
    private static let peerHasLeft: Int16 = 0x2000
    private static let maxHead = 64 << 10

    private let descriptor: CInt
    /// The port it is bound to; 0 for a connection.
    let port: Int
    private let state = Mutex(State())

    private init(_ descriptor: CInt, port: Int = 0) {
        self.descriptor = descriptor
        self.port = port
    }

    deinit {
        close()
    }

    /// Its descriptor, as long as it is open.
    var rawDescriptor: CInt { descriptor }

    /// Whether the peer has disconnected.
    var hasPeerLeft: Bool { state.withLock { $0.hasPeerLeft } }

    /// Whether this side is still open.
    var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Closes this side, once.
    func close() {
        let wasOpen = state.withLock { state in
            defer { state.isOpen = false }
            return state.isOpen
        }
        guard wasOpen else { return }
        // A process that is being started has the descriptor for a moment too, and would go on listening.
        if port != 0 { shutdown(descriptor, CInt(SHUT_RDWR)) }
        Glibc.close(descriptor)
    }

    // MARK: - Listening

    /// A listener on a port, or on a free one.
    static func listen(on address: String, port: UInt16 = 0) throws -> OriginSocket {
        let (descriptor, port) = try bind(to: address, port: port)
        let socket = OriginSocket(descriptor, port: Int(port))
        guard Glibc.listen(descriptor, 512) == 0 else { throw Failure(call: "listen", code: errno) }
        return socket
    }

    /// A socket of the caller's that is bound to a port, or to a free one if that is 0, and does not listen.
    static func bind(to address: String, port: UInt16) throws -> (descriptor: CInt, port: UInt16) {
        let descriptor = socket(AF_INET, LINUX_SOCK_STREAM | LINUX_SOCK_CLOEXEC, 0)
        guard descriptor >= 0 else { throw Failure(call: "socket", code: errno) }
        // A listener has the port of a `HeldPort`: both must permit it.
        var isShared: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isShared, socklen_t(MemoryLayout<CInt>.size))
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isAddress = inet_pton(AF_INET, address, &name.sin_addr) == 1
        let isBound = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                isAddress && Glibc.bind(descriptor, name, length) == 0
                    && getsockname(descriptor, name, &length) == 0
            }
        }
        guard isBound else {
            let code = errno
            Glibc.close(descriptor)
            throw Failure(call: "bind", code: code)
        }
        return (descriptor, UInt16(bigEndian: name.sin_port))
    }

    /// The next connection; nil once the gate is open.
    func accept(unlessOpen gate: OriginGate) -> OriginSocket? {
        guard wait(for: Int16(POLLIN), unlessOpen: gate) else { return nil }
        let client = linux_accept4(descriptor, nil, nil, LINUX_SOCK_CLOEXEC)
        guard client >= 0 else { return nil }
        var one: CInt = 1
        _ = setsockopt(
            client, CInt(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<CInt>.size))
        return OriginSocket(client)
    }

    // MARK: - A connection

    /// The next request's head with its empty line; nil when the peer has disconnected, the gate is open, or
    /// it is too long.
    func readHead(refusingTLS: Bool, unlessOpen gate: OriginGate) -> [UInt8]? {
        var head = state.withLock { $0.unread }
        var buffer = [UInt8](repeating: 0, count: 8 << 10)
        while true {
            if let end = head.indices.first(where: { head[$0...].starts(with: "\r\n\r\n".utf8) }) {
                let rest = Array(head[(end + 4)...])
                state.withLock { $0.unread = rest }
                return Array(head[..<(end + 4)])
            }
            guard head.count < Self.maxHead, wait(for: Int16(POLLIN), unlessOpen: gate) else { return nil }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else {
                state.withLock { $0.hasPeerLeft = true }
                return nil
            }
            head += buffer[..<count]
            // A TLS record of the handshake begins with 22 (RFC 8446 §5.1).
            if refusingTLS && head.first == 22 {
                _ = send(OriginAnswer.head(400, [("Connection", "close")]))
                return nil
            }
        }
    }

    /// The next bytes, which follow a head; nil when the peer has disconnected or the gate is open.
    func readContent(_ count: Int, unlessOpen gate: OriginGate) -> [UInt8]? {
        var content = state.withLock { $0.unread }
        var buffer = [UInt8](repeating: 0, count: 8 << 10)
        while content.count < count {
            guard wait(for: Int16(POLLIN), unlessOpen: gate) else { return nil }
            let received = recv(descriptor, &buffer, buffer.count, 0)
            guard received > 0 else { return nil }
            content += buffer[..<received]
        }
        let rest = Array(content[count...])
        state.withLock { $0.unread = rest }
        return Array(content[..<count])
    }

    /// Performs a script; false if the peer disconnected or the gate opened before its end.
    func perform(_ answer: OriginAnswer, unlessOpen gate: OriginGate) -> Bool {
        for step in answer.steps {
            guard perform(step, unlessOpen: gate) else { return false }
        }
        return true
    }

    private func perform(_ step: OriginAnswer.Step, unlessOpen gate: OriginGate) -> Bool {
        switch step {
        case .send(let bytes): return send(bytes)
        case .wait(let other): return waitForOpening(of: other, unlessOpen: gate)
        case .stall:
            _ = wait(for: 0, unlessOpen: gate)
            return false
        case .trickle(let bytes, let piece, let milliseconds):
            return trickle(bytes, piece, milliseconds, unlessOpen: gate)
        case .delivered: return waitForDelivery(unlessOpen: gate)
        case .close:
            close()
            return true
        case .reset:
            reset()
            return true
        }
    }

    private func send(_ bytes: [UInt8]) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Glibc.send(
                    descriptor, buffer.baseAddress.map { $0 + done }, bytes.count - done,
                    CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else {
                state.withLock { $0.hasPeerLeft = true }
                return false
            }
            done += count
        }
        return true
    }

    private func trickle(_ bytes: [UInt8], _ piece: Int, _ milliseconds: Int, unlessOpen gate: OriginGate)
        -> Bool
    {
        for start in stride(from: 0, to: bytes.count, by: piece) {
            guard !wait(for: 0, unlessOpen: gate, milliseconds: milliseconds), !hasPeerLeft, !gate.isOpen
            else {
                return false
            }
            guard send(Array(bytes[start..<min(start + piece, bytes.count)])) else { return false }
        }
        return true
    }

    /// A host acknowledges what its program can read.
    private func waitForDelivery(unlessOpen gate: OriginGate) -> Bool {
        while linux_unacknowledged(descriptor) > 0 {
            _ = wait(for: 0, unlessOpen: gate, milliseconds: 1)
            guard !hasPeerLeft, !gate.isOpen else { return false }
        }
        return true
    }

    /// Closing with SO_LINGER and no time sends RST.
    private func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        _ = setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        close()
    }

    // MARK: - Waiting

    private func waitForOpening(of gate: OriginGate, unlessOpen stop: OriginGate) -> Bool {
        _ = poll(for: 0, [gate, stop], milliseconds: -1)
        return gate.isOpen && !stop.isOpen
    }

    /// Waits for `events`, the end of the peer, the gate, or time; true if the events came and the gate is
    /// closed.
    private func wait(for events: Int16, unlessOpen gate: OriginGate, milliseconds: CInt = -1) -> Bool {
        let got = poll(for: events, [gate], milliseconds: milliseconds)
        return !gate.isOpen && got & events != 0
    }

    private func wait(for events: Int16, unlessOpen gate: OriginGate, milliseconds: Int) -> Bool {
        wait(for: events, unlessOpen: gate, milliseconds: CInt(milliseconds))
    }

    /// One poll of the socket and gates; records when the peer has disconnected.
    private func poll(for events: Int16, _ gates: [OriginGate], milliseconds: CInt) -> Int16 {
        var entries = [pollfd(fd: descriptor, events: events | Self.peerHasLeft, revents: 0)]
        entries += gates.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        while Glibc.poll(&entries, nfds_t(entries.count), milliseconds) < 0 && errno == EINTR {}
        let got = entries[0].revents
        if got & (Self.peerHasLeft | Int16(POLLHUP) | Int16(POLLERR)) != 0 {
            state.withLock { $0.hasPeerLeft = true }
        }
        return got
    }
}
