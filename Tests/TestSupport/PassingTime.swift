// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A clock that passes by sleeping alone: each sleep ends at once, when its time has come, and is recorded.
public final class PassingTime: Clock, Sendable {
    public typealias Instant = SteppedTime.Instant

    private let state = Mutex((now: Instant(), sleeps: [Duration]()))
    private let didSleep: @Sendable (Int) -> Void

    /// A clock at zero.
    /// - Parameter didSleep: called at the end of each sleep with the number of sleeps so far.
    public init(didSleep: @escaping @Sendable (Int) -> Void = { _ in }) { self.didSleep = didSleep }

    public var now: Instant { state.withLock(\.now) }
    public var minimumResolution: Duration { .zero }
    /// How long each sleep was, in their order.
    public var sleeps: [Duration] { state.withLock(\.sleeps) }

    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        let count = state.withLock { state in
            state.sleeps.append(state.now.duration(to: deadline))
            state.now = max(state.now, deadline)
            return state.sleeps.count
        }
        didSleep(count)
    }
}
