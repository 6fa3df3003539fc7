// SPDX-License-Identifier: Apache-2.0

import Bodies
import CLinux
internal import Dispatch
import Glibc
import Primitives

/// Waits for the system to report memory pressure; costs nothing until then.
///
/// Dispatch does not support urgent data (EPOLLPRI), by which PSI reports; so it watches an epoll descriptor
/// that watches for that.
final class PressureWatch: Sendable {
    private let events: OwnedDescriptor
    private let file: OwnedDescriptor
    // Safe because Dispatch's objects may be used from any thread; only deinit does.
    private nonisolated(unsafe) let source: any DispatchSourceRead

    /// Watches the first candidate that can be watched; nil if none can.
    /// - Parameter alarm: called on one queue, each time.
    init?(_ candidates: [PressureSource], alarm: @escaping @Sendable () -> Void) {
        guard let (file, isRegular) = Self.open(candidates) else { return nil }
        let descriptor = epoll_create1(CInt(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        events = OwnedDescriptor(owning: descriptor)
        // A FIFO or socket becomes readable; a PSI file only reports urgent data.
        var event = unsafe epoll_event()
        unsafe event.events = isRegular ? EPOLLPRI.rawValue : EPOLLIN.rawValue
        guard unsafe epoll_ctl(descriptor, EPOLL_CTL_ADD, file.raw, &event) == 0 else { return nil }
        self.file = file
        unsafe source = DispatchSource.makeReadSource(
            fileDescriptor: descriptor, queue: DispatchQueue(label: "memory pressure"))
        unsafe source.setEventHandler { [events, file] in
            var event = unsafe epoll_event()
            guard unsafe epoll_wait(events.raw, &event, 1, 0) == 1 else { return }
            guard unsafe event.events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) == 0 else {
                // The control group is gone, or the FIFO has no writer any more: nothing can be reported.
                _ = epoll_ctl(events.raw, EPOLL_CTL_DEL, file.raw, nil)
                return
            }
            if !isRegular { Self.drain(file) }
            alarm()
        }
        unsafe source.activate()
    }

    deinit {
        unsafe source.cancel()
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
