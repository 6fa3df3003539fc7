// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What other threads ask of the loader's thread; the only way to it.
final class LoaderInbox: Sendable {
    /// A wish.
    enum Command: Sendable {
        case start(LoadJob, LoadJob.Continuation)
        case cancel(UInt64)
        case raise(UInt64, FetchPriority)
        case adopt(AddressPolicy)
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
        var isClosed = false
    }

    private let state: Mutex<State>
    private let waker: EventSignal
    private let maxStarts: Int
    /// Whether the thread will look into the inbox before it waits.
    private let isAwake = Atomic(false)

    /// An open inbox whose thread is woken by `waker`.
    ///
    /// At most `maxStarts` fetches wait in it; cancellations are as many as fetches, and pings as many as those who watch.
    init(waker: EventSignal, maxStarts: Int) {
        state = Mutex(State())
        self.waker = waker
        self.maxStarts = maxStarts
    }

    /// Leaves a wish, and wakes the thread if it sleeps.
    func post(_ command: Command) -> Receipt {
        let receipt = state.withLock { $0.post(command, maxStarts: maxStarts) }
        // The order of these two and of those in `rest`: whichever comes second sees what the other has done.
        if receipt == .taken, !isAwake.exchange(true, ordering: .sequentiallyConsistent) { waker.wake() }
        return receipt
    }

    /// Whether the thread may wait, since there is no wish; whoever leaves one from now on wakes it.
    func rest() -> Bool {
        isAwake.store(false, ordering: .sequentiallyConsistent)
        guard state.withLock(\.commands.isEmpty) else {
            rise()
            return false
        }
        return true
    }

    /// The thread does not wait any more.
    func rise() { isAwake.store(true, ordering: .sequentiallyConsistent) }

    /// Takes all wishes out, in order.
    func takeAll() -> [Command] {
        state.withLock { $0.takeAll() }
    }

    /// Accepts nothing from now on, and takes out what is left.
    func close() -> [Command] {
        state.withLock { state in
            state.isClosed = true
            return state.takeAll()
        }
    }
}

extension LoaderInbox.State {
    fileprivate mutating func post(_ command: LoaderInbox.Command, maxStarts: Int) -> LoaderInbox.Receipt {
        guard !isClosed else { return .closed }
        if case .start = command {
            guard starts < maxStarts else { return .full }
            starts += 1
        }
        commands.append(command)
        return .taken
    }

    fileprivate mutating func takeAll() -> [LoaderInbox.Command] {
        defer {
            commands = []
            starts = 0
        }
        return commands
    }
}
