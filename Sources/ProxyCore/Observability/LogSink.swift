// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// Where a log is written: a descriptor, or the journal's socket. Safe from any thread; a write may block.
public final class LogSink: Sendable {
    /// The journal's socket on a usual system (systemd-journald.service(8)).
    public static let journalPath = "/run/systemd/journal/socket"

    /// A log that can't be opened.
    public struct Failure: Error, Sendable, Hashable {
        /// The system call.
        public let call: String
        /// Its error (errno(3)).
        public let code: Int32
    }

    private enum Target: Sendable {
        case stream(Int32)
        case datagrams(Int32)
    }

    private let target: Target

    /// A sink for lines; the descriptor stays the caller's.
    public init(descriptor: Int32) {
        target = .stream(descriptor)
    }

    /// A sink for datagrams to the socket at `path`.
    public init(journal path: String = LogSink.journalPath) throws(Failure) {
        let kind = LINUX_SOCK_DGRAM | LINUX_SOCK_CLOEXEC
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw Failure(call: "socket", code: errno) }
        guard Self.connect(descriptor, to: path) else {
            let failure = Failure(call: "connect", code: errno)
            close(descriptor)
            throw failure
        }
        target = .datagrams(descriptor)
    }

    deinit {
        if case .datagrams(let descriptor) = target { close(descriptor) }
    }

    private static func connect(_ descriptor: Int32, to path: String) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path) - 1
        guard path.utf8.count <= room else {
            errno = ENAMETOOLONG
            return false
        }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        // Safe because the address lives through the call and its size is the one given.
        return unsafe withUnsafeBytes(of: address) { bytes in
            guard let start = bytes.baseAddress else { return false }
            let pointer = unsafe start.assumingMemoryBound(to: sockaddr.self)
            return unsafe Glibc.connect(descriptor, pointer, socklen_t(bytes.count)) == 0
        }
    }

    /// Whether each event must be written on its own.
    var takesDatagrams: Bool {
        if case .datagrams = target { true } else { false }
    }

    /// Writes all bytes, as one datagram where the sink takes datagrams; false when they are lost.
    public func write(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes { unsafe write($0) }
    }

    /// Writes all bytes, as one datagram where the sink takes datagrams; false when they are lost.
    func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        switch target {
        case .stream(let descriptor): unsafe writeAll(bytes, to: descriptor)
        case .datagrams(let descriptor): unsafe send(bytes, to: descriptor)
        }
    }

    private func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var rest = unsafe bytes
        while unsafe !rest.isEmpty {
            let count = unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count >= 0 {
                unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if errno == EAGAIN {
                waitUntilWritable(descriptor)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    private func waitUntilWritable(_ descriptor: Int32) {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&entry, 1, -1)
    }

    private func send(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        while true {
            let count = unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            if count >= 0 { return true }
            guard errno == EINTR else { return false }
        }
    }
}
