// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What other threads ask of the loader's thread; the only way to it.
final class LoaderInbox: Sendable {
    /// A wish.
    enum Command: Sendable {
        case start(LoadJob, LoadJob.Continuation)
        case cancel(UInt64)
        case change(UInt64, FetchUrgency.Change)
        case adopt(LoaderSettings)
        case ping(CheckedContinuation<Bool, Never>)
        case stop
    }

    /// What became of a wish.
    enum Receipt {
        /// It will be seen to.
        case taken
        /// Too many fetches have not even been looked at yet.
        case full
        /// The thread has gone or is going.
        case closed
    }

    fileprivate struct State {
        var commands: [Command] = []
        var starts = 0
        var waker: CurlWaker?
        var maxStarts: Int
    }

    private let state: Mutex<State>

    /// An open inbox whose thread is woken by `waker`.
    ///
    /// At most `maxStarts` fetches wait in it; cancellations are as many as fetches, and pings as many as those who watch.
    init(waker: CurlWaker, maxStarts: Int) {
        state = Mutex(State(waker: waker, maxStarts: maxStarts))
    }

    /// Leaves a wish and wakes the thread if it was the first.
    ///
    /// Waking is done under the lock, so that `close` cannot free what is used to wake.
    func post(_ command: Command) -> Receipt {
        state.withLock { state in
            guard let waker = state.waker else { return .closed }
            if case .start = command {
                guard state.starts < state.maxStarts else { return .full }
                state.starts += 1
            }
            state.commands.append(command)
            if state.commands.count == 1 { waker.wake() }
            return .taken
        }
    }

    /// Has another number of fetches wait in it at most, from now on.
    func resize(maxStarts: Int) {
        state.withLock { $0.maxStarts = maxStarts }
    }

    /// Takes all wishes out, in order.
    func takeAll() -> [Command] {
        state.withLock { $0.takeAll() }
    }

    /// Accepts nothing from now on, and takes out what is left.
    func close() -> [Command] {
        state.withLock { state in
            state.waker = nil
            return state.takeAll()
        }
    }
}

extension LoaderInbox.State {
    fileprivate mutating func takeAll() -> [LoaderInbox.Command] {
        defer {
            commands.removeAll(keepingCapacity: true)
            starts = 0
        }
        return commands
    }
}
