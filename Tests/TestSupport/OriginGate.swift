// SPDX-License-Identifier: Apache-2.0

import CTestLinux
import Glibc

/// Holds answers of a `FakeOrigin` until a test opens it; can be opened from any thread, and stays open.
public final class OriginGate: Sendable {
    /// Readable once it is open, so that a connection's thread can poll it beside its socket.
    let descriptor: CInt
    private let writingEnd: CInt

    /// A closed gate.
    public init() {
        (descriptor, writingEnd) = pipeEnds()
    }

    deinit {
        close(descriptor)
        close(writingEnd)
    }

    /// Opens the gate, now and later.
    public func open() {
        _ = write(writingEnd, "o", 1)
    }
}

extension OriginGate {
    /// Whether it has been opened.
    public var isOpen: Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 1
    }
}

/// The reading and the writing end of a new pipe, which no process that is spawned meanwhile inherits.
public func pipeEnds() -> (reading: CInt, writing: CInt) {
    var ends: [CInt] = [-1, -1]
    precondition(test_pipe(&ends) == 0, "pipe2: \(errno)")
    return (ends[0], ends[1])
}
