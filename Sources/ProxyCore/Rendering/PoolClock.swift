// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// The clock and the timers of a pool of workers.
package struct PoolClock: Sendable {
    /// Returns the time of a clock that is never set.
    let now: @Sendable () -> ContinuousClock.Instant
    /// Calls a closure when so much time has passed, on any thread.
    let schedule: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void

    /// Combines a clock and its timers.
    init(
        now: @escaping @Sendable () -> ContinuousClock.Instant,
        schedule: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
    ) {
        (self.now, self.schedule) = (now, schedule)
    }

    /// The system's, with a queue of its own.
    package init() {
        let queue = DispatchQueue(label: "imageproxyd.worker.timers")
        now = { .now }
        schedule = { time, work in
            queue.asyncAfter(deadline: .now() + .milliseconds(Int(time / .milliseconds(1))), execute: work)
        }
    }
}
