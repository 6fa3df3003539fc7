// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A time that only the test advances, and timers that expire by it, for parts that use a clock through closures.
public final class ManualTime: Sendable {
    private struct Timer {
        let end: Duration
        let work: @Sendable () -> Void
    }

    private struct State {
        var passed = Duration.zero
        var timers: [Timer] = []
    }

    private let start = ContinuousClock.now
    private let state = Mutex(State())
    /// How many timers have been set.
    public let timersSet = Observed(0)

    /// A time that stands still.
    public init() {}

    /// The time now.
    public var now: ContinuousClock.Instant { start + state.withLock(\.passed) }

    /// The same in nanoseconds since some moment.
    public var nanoseconds: UInt64 {
        let (seconds, attoseconds) = state.withLock(\.passed).components
        return Self.begin + UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }

    /// Not zero, which a part may take for a time that is not known.
    private static let begin: UInt64 = 1_000_000_000

    /// Calls a closure when so much time has passed.
    public func schedule(after duration: Duration, _ work: @escaping @Sendable () -> Void) {
        state.withLock { $0.timers.append(Timer(end: $0.passed + duration, work: work)) }
        timersSet.update { $0 += 1 }
    }

    /// Lets time pass; returns after the calls of the timers that have expired.
    public func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.passed += duration
            let passed = state.passed
            defer { state.timers.removeAll { $0.end <= passed } }
            return state.timers.filter { $0.end <= passed }
        }
        for timer in due { timer.work() }
    }
}
