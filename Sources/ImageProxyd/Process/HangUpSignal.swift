// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
import Glibc
import Synchronization

/// Whether SIGHUP has come since `HangUpSignal.hold`.
private let hasComeEarly = Atomic(false)

/// SIGHUP, which requests a reload.
struct HangUpSignal {
    /// Stores a signal that comes too early.
    private final class Gate: Sendable {
        private let state = Mutex((isOpen: false, isPending: false))

        /// Whether a signal that has come is handled now; otherwise it is stored.
        func come() -> Bool {
            state.withLock { state in
                state.isPending = !state.isOpen
                return state.isOpen
            }
        }

        /// Opens the gate; returns whether a signal has come before.
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

    /// From now on the signal does not end the process; one that comes is handled after `begin`.
    ///
    /// Called before the settings are read: what is changed later is read anew.
    static func hold() {
        // Made now, since the handler must not make it.
        _ = hasComeEarly.load(ordering: .relaxed)
        // Not SIG_IGN, which would discard a signal that is about to be handled.
        _ = signal(SIGHUP) { _ in hasComeEarly.store(true, ordering: .relaxed) }
    }

    /// Prepares to call `reload` at each signal, never twice at once; signals before `begin` are handled
    /// then. Returns when none is lost any more.
    init(_ reload: @escaping @Sendable () -> Void) async {
        self.reload = reload
        Self.hold()
        source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: queue)
        source.setEventHandler { [gate] in
            if gate.come() { reload() }
        }
        await source.begin()
    }

    /// Handles each signal from now on.
    func begin() {
        if gate.open() || hasComeEarly.load(ordering: .relaxed) { queue.async(execute: reload) }
    }

    /// Handles no more signals.
    func cancel() {
        source.cancel()
    }
}
