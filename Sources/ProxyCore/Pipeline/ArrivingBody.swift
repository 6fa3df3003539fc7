// SPDX-License-Identifier: Apache-2.0

package import Bodies
import Loading
import Synchronization

/// One client's way through an image that arrives: from its first byte on, at the client's own pace.
///
/// Whoever holds it is a passenger of the flight that fetches the image: when the last one lets go of it before the end,
/// the fetch is cancelled. The end is told only when the flight has landed: who has the whole image finds it stored from
/// then on, and no body is whole that the loader did not call so. Safe from any thread; never waits.
package final class ArrivingBody: Sendable {
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
        /// Names this reader among those who wait for bytes.
        var waiter: UInt64?
        var failure: PipelineError?
        /// When the end, or the failure, was told.
        var end: ContinuousClock.Instant?

        mutating func fail(_ failure: PipelineError) -> Step {
            self.failure = failure
            end = end ?? .now
            return .broken
        }
    }

    private let fetch: OriginalFetch
    private let seat: ImagePipeline.RenderingSeat
    private let length: Int?
    private let state = Mutex(State())

    init(_ fetch: OriginalFetch, _ seat: ImagePipeline.RenderingSeat, length: Int?) {
        self.fetch = fetch
        self.seat = seat
        self.length = length
    }

    deinit {
        if let waiter = state.withLock(\.waiter) { fetch.body.leave(waiter) }
    }

    /// Gives the bytes behind those given before: at most `count` where they lie in memory, all there are in a file.
    ///
    /// After `nothingYet`, `wake` is called once there is more to say, from another thread or this one.
    package func next(atMost count: Int, orWake wake: @escaping @Sendable () -> Void) -> Step {
        let (step, isWaitingForLanding) = state.withLock { state in
            state.waiter.map(fetch.body.leave)
            state.waiter = nil
            switch fetch.body.look(at: state.offset, max: count, orWake: wake) {
            case .piece(let piece):
                let isLast = state.offset + piece.count == length
                guard isLast, let early = beforeLanding(&state) else {
                    state.offset += piece.count
                    return (Step.piece(piece), false)
                }
                // One byte is enough to tell the end by.
                guard early.isWaitingForLanding, piece.count > 1 else { return early }
                state.offset += piece.count - 1
                return (.piece(piece.withoutLastByte), false)
            case .nothingYet(let waiter):
                state.waiter = waiter
                return (.nothingYet, false)
            case .end: return beforeLanding(&state) ?? (.end, false)
            case .failed(let error):
                return (state.fail(PipelineError(fetch.failure ?? LoadError(error))), false)
            }
        }
        if isWaitingForLanding { seat.whenLanded(wake) }
        return step
    }

    /// What to say in place of the end while the flight has not landed, or where it has failed; nil once it has succeeded.
    private func beforeLanding(_ state: inout State) -> (Step, isWaitingForLanding: Bool)? {
        switch seat.outcome {
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
        fetch.start.microseconds(until: state.withLock(\.end) ?? .now)
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
