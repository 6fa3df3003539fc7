// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// The tick at which a loop checks its deadlines; stopped while there is none. Confined to a loop.
final class LoopTimer {
    /// Readable at each tick.
    let descriptor: CInt
    /// The nanoseconds between two ticks.
    private let interval: Int
    private var isRunning = false

    /// A stopped timer.
    init(interval: Duration) throws(SocketError) {
        self.interval = Int(interval / .nanoseconds(1))
        descriptor = try check(
            "timerfd_create", timerfd_create(CLOCK_MONOTONIC, CInt(TFD_CLOEXEC | TFD_NONBLOCK)))
    }

    deinit {
        close(descriptor)
    }

    func start() {
        guard !isRunning else { return }
        isRunning = true
        set(interval)
    }

    func stop() {
        isRunning = false
        set(0)
    }

    /// Makes the descriptor unreadable until the next tick.
    func acknowledge() {
        var expirations: UInt64 = 0
        // Ignored: the number of ticks that were missed, which is not needed.
        _ = unsafe read(descriptor, &expirations, MemoryLayout<UInt64>.size)
    }

    private func set(_ nanoseconds: Int) {
        var times = itimerspec()
        times.it_interval.tv_nsec = nanoseconds
        times.it_value.tv_nsec = nanoseconds
        // Can't fail: the descriptor is a timer and the times are in range.
        unsafe timerfd_settime(descriptor, 0, &times, nil)
    }
}
