// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// The sockets of libcurl's transfers in an epoll set, with its timer and what wakes their thread; confined to that.
final class SocketWatch {
    /// A socket about which something can be done.
    struct Ready {
        let descriptor: Int32
        /// Readable, at its end, or broken.
        let canRead: Bool
        let canWrite: Bool
    }

    /// Wakes `wait` from any thread.
    let signal: EventSignal
    private let epoll: OwnedDescriptor
    /// What each socket is watched for, by its number; 0 where it is not.
    private var interests: [UInt32] = []
    private var ready: [Ready] = []
    private var timer: ContinuousClock.Instant?

    /// Most sockets that the kernel tells of at once; the others follow.
    private static let batch = 64

    /// An empty set; nil when the kernel has no descriptors left.
    init?() {
        let descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        epoll = OwnedDescriptor(owning: descriptor)
        guard let signal = EventSignal() else { return nil }
        self.signal = signal
        guard control(EPOLL_CTL_ADD, signal.descriptor, EPOLLIN.rawValue) else { return nil }
    }

    // MARK: - What libcurl wants

    /// Watches a socket from now on for this, and for nothing else; not at all for neither.
    ///
    /// Where the kernel has no memory for that, its transfer ends by its deadline.
    func watch(_ socket: Int32, forReading reads: Bool, forWriting writes: Bool) {
        guard socket >= 0 else { return }
        let events = (reads ? EPOLLIN.rawValue : 0) | (writes ? EPOLLOUT.rawValue : 0)
        let index = Int(socket)
        if index >= interests.count {
            interests += Array(repeating: 0, count: index + 1 - interests.count)
        }
        let earlier = interests[index]
        guard events != earlier else { return }
        interests[index] = events
        if events == 0 {
            _ = control(EPOLL_CTL_DEL, socket, 0)
        } else if earlier == 0 || !control(EPOLL_CTL_MOD, socket, events) {
            _ = control(EPOLL_CTL_ADD, socket, events)
        }
    }

    /// Sets the timer anew; below 0 it is off.
    func setTimer(milliseconds: Int) {
        timer = milliseconds < 0 ? nil : .now + .milliseconds(milliseconds)
    }

    private func control(_ operation: Int32, _ descriptor: Int32, _ events: UInt32) -> Bool {
        var event = unsafe epoll_event(events: events, data: epoll_data_t(fd: descriptor))
        return unsafe epoll_ctl(epoll.raw, operation, descriptor, &event) == 0
    }

    // MARK: - What there is to do

    /// Waits until there is something to do, but no longer than this; false when the kernel refuses.
    func wait(milliseconds: Int) -> Bool {
        var events = unsafe InlineArray<64, epoll_event>(repeating: epoll_event())
        var span = unsafe events.mutableSpan
        let (epoll, timeout) = (epoll.raw, Int32(clamping: min(milliseconds, millisecondsToTimer)))
        let count = unsafe span.withUnsafeMutableBufferPointer {
            unsafe epoll_wait(epoll, $0.baseAddress, Int32(Self.batch), timeout)
        }
        guard count >= 0 else { return errno == EINTR }
        for index in 0..<Int(count) { unsafe note(events[index]) }
        return true
    }

    /// Milliseconds until the timer is due, rounded up, so that it is by then.
    private var millisecondsToTimer: Int {
        guard let timer else { return .max }
        let (seconds, attoseconds) = (timer - .now).components
        guard seconds >= 0, attoseconds > 0 || seconds > 0 else { return 0 }
        return Int(seconds) * 1_000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }

    private func note(_ event: epoll_event) {
        let descriptor = unsafe event.data.fd
        guard descriptor != signal.descriptor else { return signal.acknowledge() }
        let readable = EPOLLIN.rawValue | EPOLLERR.rawValue | EPOLLHUP.rawValue
        let events = unsafe event.events
        ready.append(
            Ready(
                descriptor: descriptor, canRead: events & readable != 0,
                canWrite: events & EPOLLOUT.rawValue != 0))
    }

    /// Takes out the sockets that the last wait found.
    func takeReady() -> [Ready] {
        guard !ready.isEmpty else { return [] }
        defer { ready = [] }
        return ready
    }

    /// Whether the timer is due; it is off then.
    func takeTimer() -> Bool {
        guard let timer, timer <= .now else { return false }
        self.timer = nil
        return true
    }
}
