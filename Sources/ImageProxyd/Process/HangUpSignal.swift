// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
import Glibc
import Primitives
import Synchronization

/// Whether SIGHUP has come since `HangUpSignal.hold`, and was not handled.
private let hasComeEarly = Atomic(false)

/// SIGHUP, which requests a reload.
struct HangUpSignal {
    private let queue = DispatchQueue(label: "reload")
    private let source: any DispatchSourceSignal
    /// Whether signals are handled; one that comes before is stored in `hasComeEarly`. Used on the queue.
    private let isOpen = CurrentValue(false)
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
        source.setEventHandler { [isOpen] in
            if isOpen.value { reload() } else { hasComeEarly.store(true, ordering: .relaxed) }
        }
        await source.begin()
    }

    /// Handles each signal from now on.
    func begin() {
        queue.async { [isOpen, reload] in
            isOpen.replace(by: true)
            if hasComeEarly.exchange(false, ordering: .relaxed) { reload() }
        }
    }

    /// Handles no more signals.
    func cancel() {
        source.cancel()
    }
}
