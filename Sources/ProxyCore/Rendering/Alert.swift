// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// Wakes a thread that sleeps in `poll`: an eventfd, raised from any thread and lowered by the sleeping one.
struct Alert: Sendable {
    private let descriptor: OwnedDescriptor

    /// Creates an alert that is not raised.
    init() throws(RenderError) {
        let raw = eventfd(0, CInt(EFD_CLOEXEC) | CInt(EFD_NONBLOCK))
        guard raw >= 0 else { throw .unavailable("eventfd: errno \(errno)") }
        descriptor = OwnedDescriptor(owning: raw)
    }

    /// The descriptor to poll.
    var raw: CInt { descriptor.raw }

    /// Wakes the thread, now or when it next sleeps.
    func raise() {
        var one: UInt64 = 1
        // A full counter has been raised already.
        _ = unsafe write(raw, &one, MemoryLayout<UInt64>.size)
    }

    /// Resets the alert.
    func lower() {
        var count: UInt64 = 0
        _ = unsafe read(raw, &count, MemoryLayout<UInt64>.size)
    }

    /// Sleeps until the alert is raised or `milliseconds` have passed.
    func wait(milliseconds: Int) {
        var polled = pollfd(fd: raw, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&polled, 1, CInt(clamping: milliseconds))
    }
}
