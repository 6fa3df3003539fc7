// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
import Glibc
import Synchronization

/// SIGHUP, by which an operator asks for a reload; from its making on it no longer ends the process.
struct HangUpSignal {
    /// What keeps a signal that comes too early.
    private final class Gate: Sendable {
        private let state = Mutex((isOpen: false, isPending: false))

        /// Whether a signal that has come is to be heeded now; otherwise it is remembered.
        func come() -> Bool {
            state.withLock { state in
                state.isPending = !state.isOpen
                return state.isOpen
            }
        }

        /// Opens it; whether a signal has come before.
        func open() -> Bool {
            state.withLock { state in
                state.isOpen = true
                return state.isPending
            }
        }
    }

    private let queue = DispatchQueue(label: "reload")
    private let source: any DispatchSourceSignal
    private let gate = Gate()
    private let reload: @Sendable () -> Void

    /// Prepares to call `reload` at each one, never twice at once; what comes before `begin` is done then.
    init(_ reload: @escaping @Sendable () -> Void) {
        self.reload = reload
        signal(SIGHUP, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: queue)
        source.setEventHandler { [gate] in
            if gate.come() { reload() }
        }
        source.activate()
    }

    /// From now on each is heeded.
    func begin() {
        if gate.open() { queue.async(execute: reload) }
    }

    /// Listens no longer.
    func cancel() {
        source.cancel()
    }
}
