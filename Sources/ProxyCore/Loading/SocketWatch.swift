// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Primitives

/// The sockets that libcurl waits for, in an epoll set, and a descriptor that wakes it.
///
/// So a wait costs as much as there are events, however many transfers run. Confined to the loader's thread, except for
/// its waker.
@safe
final class SocketWatch {
    /// A socket that is ready.
    struct Event {
        let socket: CInt
        /// Whether it has something to read, its end or its error included.
        let isReadable: Bool
        /// Whether it takes bytes.
        let isWritable: Bool
    }

    private let epoll: CInt
    private let wakeUp: CInt
    /// The handle that libcurl last named with each socket that is in the set.
    private var handles: [CInt: UInt] = [:]
    /// The maximum number of events read from the kernel at once.
    private static let batch = 64

    /// Creates an empty set; nil if the process or the machine has no descriptor left.
    init?() {
        epoll = epoll_create1(CInt(EPOLL_CLOEXEC))
        wakeUp = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
        guard epoll >= 0, wakeUp >= 0, change(EPOLL_CTL_ADD, wakeUp, EPOLLIN.rawValue) else { return nil }
    }

    deinit {
        for descriptor in [epoll, wakeUp] where descriptor >= 0 { close(descriptor) }
    }

    /// Ends the present or the next wait from any thread.
    var waker: Waker { Waker(descriptor: wakeUp) }

    /// The handle that libcurl last named with a socket; nil if it does not wait for that.
    func handle(at socket: CInt) -> UInt? { handles[socket] }

    /// Waits until a socket is ready, another thread calls `wake`, or the time has passed.
    func wait(milliseconds: Int) -> [Event] {
        var events = unsafe InlineArray<64, epoll_event>(repeating: epoll_event())
        var span = unsafe events.mutableSpan
        let count = unsafe span.withUnsafeMutableBufferPointer { events in
            // A signal ends the wait early, which does no harm.
            unsafe epoll_wait(epoll, events.baseAddress, CInt(Self.batch), CInt(clamping: milliseconds))
        }
        var ready: [Event] = []
        for index in 0..<max(0, Int(count)) {
            let (descriptor, events) = unsafe (events[index].data.fd, events[index].events)
            if descriptor == wakeUp {
                var number: eventfd_t = 0
                _ = unsafe eventfd_read(wakeUp, &number)
            } else if handles[descriptor] == nil {
                // Nothing would ever read it: it would end every wait.
                _ = change(EPOLL_CTL_DEL, descriptor, 0)
            } else {
                let readable = EPOLLIN.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue
                ready.append(
                    Event(
                        socket: descriptor, isReadable: events & readable != 0,
                        isWritable: events & EPOLLOUT.rawValue != 0))
            }
        }
        return ready
    }

    /// libcurl no longer waits for a socket; it may have been closed, and has left the set then.
    func remove(_ socket: CInt) {
        if handles.removeValue(forKey: socket) != nil { _ = change(EPOLL_CTL_DEL, socket, 0) }
    }

    /// libcurl waits for a socket from now on.
    func update(_ socket: CInt, of handle: UInt, reads: Bool, writes: Bool) {
        let events = (reads ? EPOLLIN.rawValue : 0) | (writes ? EPOLLOUT.rawValue : 0)
        let isKnown = handles.updateValue(handle, forKey: socket) != nil
        // A descriptor of the same number may have been closed without a word, or left in the set.
        if !change(isKnown ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, events) {
            _ = change(isKnown ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, events)
        }
    }

    private func change(_ operation: CInt, _ descriptor: CInt, _ events: UInt32) -> Bool {
        var event = unsafe epoll_event(events: events, data: epoll_data_t(fd: descriptor))
        return unsafe epoll_ctl(epoll, operation, descriptor, &event) == 0
    }

    /// Ends the wait of a `SocketWatch` from any thread, which must still exist.
    struct Waker: Sendable {
        fileprivate let descriptor: CInt

        /// Ends the present or the next wait.
        func wake() { eventfd_write(descriptor, 1) }
    }
}
