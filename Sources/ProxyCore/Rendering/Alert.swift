// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// Wakes a thread that sleeps in `poll`: an eventfd, raised from any thread and lowered by the one that slept.
struct Alert: Sendable {
    private let descriptor: OwnedDescriptor

    /// Makes an alert that is not raised.
    init() throws(RenderError) {
        let raw = eventfd(0, CInt(EFD_CLOEXEC) | CInt(EFD_NONBLOCK))
        guard raw >= 0 else { throw .unavailable("eventfd: errno \(errno)") }
        descriptor = OwnedDescriptor(owning: raw)
    }

    /// What to poll.
    var raw: CInt { descriptor.raw }

    /// Wakes the thread, now or when it next sleeps.
    func raise() {
        var one: UInt64 = 1
        // A counter that is full has been raised already.
        _ = unsafe write(raw, &one, MemoryLayout<UInt64>.size)
    }

    /// Takes notice.
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
