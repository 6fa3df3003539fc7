// SPDX-License-Identifier: Apache-2.0

import Bodies
import CLinux
internal import Dispatch
import Glibc
import Primitives

/// Waits for the system to report memory pressure, on a thread of its own.
final class PressureWatch: Sendable {
    /// An eventfd(2) that ends the thread.
    private let ending: OwnedDescriptor

    /// Watches the first candidate that can be watched; nil if none can.
    /// - Parameter pressureReported: called on one queue, each time.
    init?(_ candidates: [PressureSource], pressureReported: @escaping @Sendable () -> Void) {
        guard let (file, isRegular) = Self.open(candidates) else { return nil }
        let descriptor = eventfd(0, CInt(EFD_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        ending = OwnedDescriptor(owning: descriptor)
        DispatchQueue(label: "memory pressure").async { [ending] in
            Self.watch(file, isRegular: isRegular, until: ending, pressureReported)
        }
    }

    deinit {
        var one: UInt64 = 1
        // Ignored: nothing; the counter is 0.
        _ = unsafe Glibc.write(ending.raw, &one, MemoryLayout<UInt64>.size)
    }

    private static func watch(
        _ file: OwnedDescriptor, isRegular: Bool, until ending: OwnedDescriptor,
        _ pressureReported: () -> Void
    ) {
        // A FIFO or socket becomes readable; a PSI file only reports urgent data.
        let events = Int16(isRegular ? POLLPRI : POLLIN)
        var entries = [
            pollfd(fd: file.raw, events: events, revents: 0),
            pollfd(fd: ending.raw, events: Int16(POLLIN), revents: 0),
        ]
        while retryingOnInterrupt({ unsafe Int(poll(&entries, 2, -1)) }) > 0, entries[1].revents == 0 {
            // The control group is gone, or the FIFO has no writer any more: nothing can be reported.
            guard Int32(entries[0].revents) & (POLLERR | POLLHUP) == 0 else { return }
            if !isRegular { drain(file) }
            pressureReported()
        }
    }

    private static func open(_ candidates: [PressureSource]) -> (OwnedDescriptor, isRegular: Bool)? {
        for candidate in candidates {
            var facts = stat()
            guard unsafe stat(candidate.path, &facts) == 0 else { continue }
            let type = facts.st_mode & S_IFMT
            let file = type == S_IFSOCK ? connect(candidate.path) : openFile(candidate.path)
            guard let file, write(candidate.trigger, to: file) else { continue }
            return (file, type == S_IFREG)
        }
        return nil
    }

    private static func openFile(_ path: String) -> OwnedDescriptor? {
        let descriptor = unsafe linux_open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK, 0)
        return descriptor < 0 ? nil : OwnedDescriptor(owning: descriptor)
    }

    private static func connect(_ path: String) -> OwnedDescriptor? {
        let descriptor = socket(AF_UNIX, LINUX_SOCK_STREAM | LINUX_SOCK_CLOEXEC | LINUX_SOCK_NONBLOCK, 0)
        guard descriptor >= 0 else { return nil }
        let file = OwnedDescriptor(owning: descriptor)
        return UnixSocket.connect(descriptor, to: path) ? file : nil
    }

    private static func write(_ trigger: [UInt8], to file: OwnedDescriptor) -> Bool {
        guard !trigger.isEmpty else { return true }
        return unsafe Glibc.write(file.raw, trigger, trigger.count) == trigger.count
    }

    private static func drain(_ file: OwnedDescriptor) {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while unsafe read(file.raw, &buffer, buffer.count) == buffer.count {}
    }
}
