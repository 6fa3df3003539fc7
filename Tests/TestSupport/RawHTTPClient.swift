// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Synchronization

/// A plain HTTP/1.1 client for tests: sends exactly the bytes it is given, and parses answers strictly.
public struct RawHTTPClient: Sendable {
    /// The answer of a server.
    public struct Answer: Sendable {
        public var status: Int
        public var fields: [(name: String, value: String)]
        public var body: [UInt8]

        /// The first value of a field, by its name in any case.
        public subscript(_ name: String) -> String? {
            fields.first { $0.name.lowercased() == name.lowercased() }?.value
        }

        public var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// The connection failed or the answer was invalid.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// A connection that is closed once, however often `hangUp` is called: its number may be another's by
    /// then.
    private final class Line: Sendable {
        let descriptor: CInt
        private let isOpen = Atomic(true)

        init(_ descriptor: CInt) { self.descriptor = descriptor }

        func close() {
            if isOpen.exchange(false, ordering: .relaxed) { Glibc.close(descriptor) }
        }
    }

    private let line: Line
    private var descriptor: CInt { line.descriptor }

    /// Connects to a unix socket.
    public init(unixSocket path: String) throws {
        line = Line(socket(AF_UNIX, LINUX_SOCK_STREAM | LINUX_SOCK_CLOEXEC, 0))
        let connected = UnixAddress.with(path) { [descriptor = line.descriptor] in connect(descriptor, $0, $1)
        }
        guard connected == 0 else { throw Failure(description: "connect \(path): \(errno)") }
        setTimeouts()
    }

    /// Connects to a port of 127.0.0.1.
    /// - Parameter source: the IPv4 address to connect from, one of 127.0.0.0/8 in host byte order; the kernel's choice
    ///   when nil, which is 127.0.0.1.
    public init(port: UInt16, from source: UInt32? = nil) throws {
        line = Line(socket(AF_INET, LINUX_SOCK_STREAM | LINUX_SOCK_CLOEXEC, 0))
        if let source {
            let bound = Self.withAddress(source, 0) { bind(descriptor, $0, $1) }
            guard bound == 0 else { throw Failure(description: "bind \(source): \(errno)") }
        }
        let connected = Self.withAddress(0x7F00_0001, port) { connect(descriptor, $0, $1) }
        guard connected == 0 else {
            let code = errno
            line.close()
            throw Failure(description: "connect \(port): \(code)")
        }
        setTimeouts()
    }

    /// Calls `body` with an IPv4 address in the kernel's format.
    private static func withAddress(
        _ host: UInt32, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) -> CInt {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = host.bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// A server that never answers, or never reads, fails the test instead of blocking it.
    private func setTimeouts() {
        var timeout = timeval(tv_sec: 600, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &timeout, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    /// Sends bytes unchanged.
    public func send(_ text: String) throws {
        try send(bytes: Array(text.utf8))
    }

    /// Sends bytes that need not be text.
    public func send(bytes: [UInt8]) throws {
        guard Glibc.send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count else {
            throw Failure(description: "send: \(errno)")
        }
    }

    /// Half-closes, and still reads.
    public func finishSending() {
        shutdown(descriptor, CInt(SHUT_WR))
    }

    /// Ends the connection.
    public func hangUp() {
        line.close()
    }

    /// Resets the connection: closing with SO_LINGER and no time sends RST.
    public func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        line.close()
    }

    /// Sends the same text again and again until the server sends something, closes, or `limit` is reached;
    /// with a pause before each that ends as soon as the server does something. Returns how often it was
    /// sent.
    public func repeatedly(send text: String, pausing milliseconds: Int = 0, atMost limit: Int) -> Int {
        let bytes = Array(text.utf8)
        for count in 0..<limit {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&entry, 1, CInt(milliseconds)) > 0 { return count }
            guard Glibc.send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL)) >= 0 else { return count }
        }
        return limit
    }

    /// Sends as much of the text as the server and the buffers between take, without waiting; returns how many bytes.
    public func offer(_ text: String) -> Int {
        let bytes = Array(text.utf8)
        return max(0, Glibc.send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)))
    }

    /// Whether the server neither sends anything nor ends the connection for a time.
    public func isQuiet(forMilliseconds time: Int) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, CInt(time)) == 0
    }

    /// Reads until the server ends the connection.
    public func receiveAll() throws -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let received = recv(descriptor, &buffer, buffer.count, 0)
            guard received >= 0 || errno != EAGAIN else {
                throw Failure(description: "the connection did not end")
            }
            guard received > 0 else { return bytes }
            bytes += buffer.prefix(received)
        }
    }

    /// Whether the server has half-closed with nothing more to read; false if it has reset the connection.
    public func receivesEnd() -> Bool {
        var octet: UInt8 = 0
        return recv(descriptor, &octet, 1, 0) == 0
    }

    /// Reads one answer; `isHead` says that no body follows whatever the fields say.
    public func answer(isHead: Bool = false) throws -> Answer {
        var answer = try head()
        guard !isHead, answer.status != 304, answer.status >= 200 else { return answer }
        if answer["Transfer-Encoding"] == "chunked" {
            while let chunk = try chunk() { answer.body += chunk }
        } else if let length = answer["Content-Length"].flatMap({ Int($0) }) {
            answer.body = try bytes(length)
        }
        return answer
    }

    /// Reads an answer's head.
    public func head() throws -> Answer {
        let lines = try line(endingWith: "\r\n\r\n").split(separator: "\r\n")
        guard let first = lines.first?.split(separator: " "), first.count >= 2, let status = Int(first[1])
        else {
            throw Failure(description: "no status line")
        }
        let fields = lines.dropFirst().map { line in
            let colon = line.firstIndex(of: ":") ?? line.endIndex
            // The space is optional (RFC 9112 §5).
            let value = line[colon...].dropFirst().drop { $0 == " " }
            return (name: String(line[..<colon]), value: String(value))
        }
        return Answer(status: status, fields: fields, body: [])
    }

    /// Reads exactly so many bytes.
    public func bytes(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count { bytes += try receive(count - bytes.count) }
        return bytes
    }

    /// Reads the next chunk of a body (RFC 9112 §7.1); nil for the last one, which has to end the message.
    public func chunk() throws -> [UInt8]? {
        let size = try line(endingWith: "\r\n")
        guard let count = Int(size, radix: 16), size == String(count, radix: 16) else {
            throw Failure(description: "no chunk: \(size)")
        }
        let bytes = try bytes(count)
        guard try self.bytes(2) == Array("\r\n".utf8) else { throw Failure(description: "no end of a chunk") }
        return count == 0 ? nil : bytes
    }

    /// Reads up to and without `end`.
    private func line(endingWith end: String) throws -> String {
        let end = Array(end.utf8)
        var bytes: [UInt8] = []
        while bytes.suffix(end.count) != end[...] { bytes += try receive(1) }
        return String(decoding: bytes.dropLast(end.count), as: UTF8.self)
    }

    private func receive(_ count: Int) throws -> ArraySlice<UInt8> {
        var buffer = [UInt8](repeating: 0, count: min(count, 65_536))
        let received = recv(descriptor, &buffer, buffer.count, 0)
        guard received > 0 else { throw Failure(description: "the connection ended (\(received), \(errno))") }
        return buffer.prefix(received)
    }
}
