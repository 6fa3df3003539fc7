// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// Wakes a thread that waits in epoll_wait(2), from any other (eventfd(2)).
final class EventSignal: Sendable {
    private let file: OwnedDescriptor

    /// Readable once somebody has woken.
    var descriptor: Int32 { file.raw }

    /// nil when the kernel has no descriptors left.
    init?() {
        let descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { return nil }
        file = OwnedDescriptor(owning: descriptor)
    }

    /// Wakes the thread, now or at its next wait.
    func wake() { eventfd_write(descriptor, 1) }

    /// Takes notice of having been woken.
    func acknowledge() {
        var count: eventfd_t = 0
        unsafe eventfd_read(descriptor, &count)
    }
}
