// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A clock that stands still except for `advance`.
public final class SteppedTime: Clock, Sendable {
    /// The time since the clock was created.
    public struct Instant: InstantProtocol {
        var offset = Duration.zero

        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        let end: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant()
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
        var lastID = 0
    }

    private let state = Mutex(State())
    private let count = Observed(0)

    /// A clock at zero.
    public init() {}

    public var now: Instant { state.withLock(\.now) }
    public var minimumResolution: Duration { .zero }

    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                    if deadline <= state.now { return .success(()) }
                    state.sleepers[id] = Sleeper(end: deadline, continuation: continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
                show()
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: id)
                if sleeper == nil { state.cancelled.insert(id) }
                return sleeper
            }
            show()
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    private func show() {
        let sleeping = state.withLock(\.sleepers.count)
        count.update { $0 = sleeping }
    }

    /// Advances by some time as soon as exactly so many tasks sleep.
    public func advance(by duration: Duration, when sleepers: Int) async {
        await count.wait { $0 == sleepers }
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.end <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        show()
        for continuation in due { continuation.resume() }
    }
}
