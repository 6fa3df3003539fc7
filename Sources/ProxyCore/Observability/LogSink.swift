// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Primitives
import Synchronization

/// The output of a log: a descriptor, or the journal's socket. Safe from any thread.
///
/// A reader that stalls blocks no thread: a write that finds no space for a while is lost, and those after it
/// are lost at once.
package final class LogSink: Sendable {
    /// The journal's socket on a usual system (systemd-journald.service(8)).
    package static let journalPath = "/run/systemd/journal/socket"

    /// A log that can't be opened.
    package struct Failure: Error, Sendable, Hashable {
        /// The system call.
        package let call: String
        /// Its error (errno(3)).
        package let code: Int32
    }

    private enum Target: Sendable {
        /// A write of no more bytes than that does not block if there is space.
        case stream(Int32, atOnce: Int)
        case datagrams(Int32)
    }

    private let target: Target

    /// The result of the last write.
    private struct State {
        /// The reader has stalled: the next write does not wait again.
        var isStalled = false
        /// The last line is incomplete.
        var isTorn = false
    }

    /// One write at a time: another would tear its lines, and use the space that was found for it.
    private let state = Mutex(State())
    /// The maximum wait for space, in milliseconds.
    private static let maxWait: Int32 = 250
    /// A pipe that is writable has at least so much space (`PIPE_BUF`, pipe(7)).
    private static let pipeSpace = 4_096

    /// Creates a sink for lines; the descriptor stays the caller's.
    package init(descriptor: Int32) {
        var facts = stat()
        let isFile = unsafe fstat(descriptor, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG
        target = .stream(descriptor, atOnce: isFile ? .max : Self.pipeSpace)
    }

    /// Creates a sink for datagrams to the socket at `path`.
    package init(journal path: String = LogSink.journalPath) throws(Failure) {
        let kind = LINUX_SOCK_DGRAM | LINUX_SOCK_CLOEXEC
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw Failure(call: "socket", code: errno) }
        guard UnixSocket.connect(descriptor, to: path) else {
            let failure = Failure(call: "connect", code: errno)
            close(descriptor)
            throw failure
        }
        target = .datagrams(descriptor)
    }

    deinit {
        if case .datagrams(let descriptor) = target { close(descriptor) }
    }

    /// Whether each event must be written on its own.
    var takesDatagrams: Bool {
        if case .datagrams = target { true } else { false }
    }

    /// Writes all bytes, as one datagram if the sink takes datagrams; false if they are lost.
    package func write(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes { unsafe write($0) }
    }

    /// Writes all bytes, as one datagram if the sink takes datagrams; false if they are lost.
    func write(_ bytes: UnsafeRawBufferPointer) -> Bool { unsafe take(bytes) == bytes.count }

    /// Writes as much as there is space for, and returns the number of bytes: whole lines, so that losses are
    /// whole lines, unless one is longer than what is written at once.
    func take(_ bytes: UnsafeRawBufferPointer) -> Int {
        switch target {
        case .stream(let descriptor, let atOnce): unsafe writeAll(bytes, to: descriptor, atOnce: atOnce)
        case .datagrams(let descriptor): unsafe send(bytes, to: descriptor) ? bytes.count : 0
        }
    }

    private func writeAll(
        _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, atOnce: Int
    ) -> Int {
        state.withLock { state in
            var rest = unsafe bytes
            while unsafe !rest.isEmpty {
                guard Self.hasSpace(descriptor, &state) else { break }
                if state.isTorn {
                    var lineFeed = Self.lineFeed
                    guard unsafe Glibc.write(descriptor, &lineFeed, 1) == 1 else { break }
                    state.isTorn = false
                    continue
                }
                let count = unsafe Glibc.write(descriptor, rest.baseAddress, Self.piece(of: rest, atOnce))
                if count >= 0 {
                    unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                } else if errno != EINTR, errno != EAGAIN {
                    break
                }
            }
            let taken = bytes.count - rest.count
            // If none of it was written the line before is as it was.
            if taken > 0, unsafe !rest.isEmpty { unsafe state.isTorn = bytes[taken - 1] != Self.lineFeed }
            return taken
        }
    }

    private static let lineFeed = UInt8(ascii: "\n")

    /// How much to write at once: up to the end of a line, if there is one.
    private static func piece(of rest: UnsafeRawBufferPointer, _ atOnce: Int) -> Int {
        guard rest.count > atOnce else { return rest.count }
        return unsafe rest[..<atOnce].lastIndex(of: lineFeed).map { $0 + 1 } ?? atOnce
    }

    /// Waits for space, unless there was none the last time either.
    private static func hasSpace(_ descriptor: Int32, _ state: inout State) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        let isReady = unsafe poll(&entry, 1, state.isStalled ? 0 : maxWait) > 0
        state.isStalled = !isReady
        return isReady
    }

    private func send(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        state.withLock { state in
            while true {
                let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
                if unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags) >= 0 { return true }
                guard errno == EINTR || errno == EAGAIN && Self.hasSpace(descriptor, &state) else {
                    return false
                }
            }
        }
    }
}
