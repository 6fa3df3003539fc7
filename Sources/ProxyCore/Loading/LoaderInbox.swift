// SPDX-License-Identifier: Apache-2.0

import Primitives
import Synchronization

/// The commands for the loader's thread; other threads reach it only through this.
final class LoaderInbox: Sendable {
    /// A command.
    enum Command: Sendable {
        case start(LoadJob, LoadJob.Continuation)
        case cancel(UInt64)
        case change(UInt64, Waiters.Change)
        case adopt(LoaderSettings)
        case ping(CheckedContinuation<Bool, Never>)
        case stop
    }

    /// The result of `post`.
    enum Receipt {
        /// The thread will handle the command.
        case taken
        /// Too many fetches wait in the inbox.
        case full
        /// The thread has ended or is ending.
        case closed
    }

    fileprivate struct State {
        var commands: [Command] = []
        var starts = 0
        var waker: SocketWatch.Waker?
        var maxStarts: Int
    }

    private let state: Mutex<State>

    /// Creates an open inbox; `waker` wakes its thread.
    ///
    /// At most `maxStarts` fetches wait in it. There are at most as many cancellations as fetches, and as
    /// many pings as watchers.
    init(waker: SocketWatch.Waker, maxStarts: Int) {
        state = Mutex(State(waker: waker, maxStarts: maxStarts))
    }

    /// Adds a command, and wakes the thread if it is the first.
    ///
    /// Wakes it under the lock, so that `close` can't free the waker meanwhile.
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

    /// Changes the maximum number of fetches that wait in it.
    func resize(maxStarts: Int) {
        state.withLock { $0.maxStarts = maxStarts }
    }

    /// Removes and returns all commands, in order.
    func takeAll() -> [Command] {
        state.withLock { $0.takeAll() }
    }

    /// Accepts no more commands; returns the remaining ones.
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
