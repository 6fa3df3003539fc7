// SPDX-License-Identifier: Apache-2.0

package import Bodies
import Loading
import Primitives
import Synchronization

/// One client's position in an image that is being received: from its first byte on, at the client's own pace.
///
/// It subscribes to the task that fetches the image: when the last subscription ends before the task, the fetch is cancelled.
/// The end is reported only when the task has ended: the image is stored by then, and no body is complete that the loader did
/// not report as complete. Safe from any thread; never waits.
package final class BodyReader: Sendable {
    /// What comes next.
    package enum Step: Sendable {
        /// The next bytes, at least one.
        case piece(StoredBody)
        /// The next bytes have yet to come.
        case nothingYet
        /// All bytes have been given.
        case end
        /// The rest will never come.
        case broken
    }

    private struct State {
        /// Bytes given.
        var offset = 0
        /// Names this reader among the waiters.
        var waiter: UInt64?
        var failure: PipelineError?
        /// When the end, or the failure, was reported.
        var end: ContinuousClock.Instant?

        mutating func fail(_ failure: PipelineError) -> Step {
            self.failure = failure
            end = end ?? .now
            return .broken
        }
    }

    private let fetch: OriginalFetch
    private let subscription: ImageJob.Subscription
    private let length: Int?
    private let state = Mutex(State())

    init(_ fetch: OriginalFetch, _ subscription: ImageJob.Subscription, length: Int?) {
        self.fetch = fetch
        self.subscription = subscription
        self.length = length
    }

    deinit {
        if let waiter = state.withLock(\.waiter) { fetch.body.leave(waiter) }
    }

    /// Gives the bytes behind those given before: at most `count` where they lie in memory, all there are in a file.
    ///
    /// After `nothingYet`, `wake` is called once there is more to say, from another thread or this one.
    package func next(atMost count: Int, orWake wake: @escaping @Sendable () -> Void) -> Step {
        let (step, isWaitingForTask) = state.withLock { state in
            state.waiter.map(fetch.body.leave)
            state.waiter = nil
            switch fetch.body.poll(at: state.offset, max: count, orWake: wake) {
            case .piece(let piece):
                let isLast = state.offset + piece.count == length
                guard isLast, let early = beforeTaskEnd(&state) else {
                    state.offset += piece.count
                    return (Step.piece(piece), false)
                }
                // One byte is enough to recognize the end.
                guard early.isWaitingForTask, piece.count > 1 else { return early }
                state.offset += piece.count - 1
                return (.piece(piece.withoutLastByte), false)
            case .nothingYet(let waiter):
                state.waiter = waiter
                return (.nothingYet, false)
            case .end: return beforeTaskEnd(&state) ?? (.end, false)
            case .failed(let error):
                return (state.fail(PipelineError(fetch.received.failure ?? LoadError(error))), false)
            }
        }
        if isWaitingForTask { subscription.result.whenSet(wake) }
        return step
    }

    /// What to report in place of the end while the task runs, or where it has failed; nil once it has succeeded.
    private func beforeTaskEnd(_ state: inout State) -> (Step, isWaitingForTask: Bool)? {
        switch subscription.result.value {
        case nil: return (.nothingYet, true)
        case .failure(let failure): return (state.fail(failure), false)
        case .success:
            state.end = state.end ?? .now
            return nil
        }
    }

    /// Why the rest never came; nil when it did, or may.
    package var failure: PipelineError? { state.withLock(\.failure) }

    /// Microseconds from the fetch's beginning to the end or the failure, or until now.
    package var fetchTime: Int {
        ((state.withLock(\.end) ?? .now) - fetch.start).inMicroseconds
    }
}

extension StoredBody {
    /// All bytes but the last one.
    fileprivate var withoutLastByte: StoredBody {
        switch self {
        case .bytes(let bytes): .bytes(Array(bytes.dropLast()))
        case .file(let file, let offset, let length): .file(file, offset: offset, length: max(0, length - 1))
        }
    }
}
