// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// The loader's own thread, because libcurl's poll blocks; joined once, after its work has ended.
final class LoaderThread: Sendable {
    private struct State {
        var hasEnded = false
        var handle: pthread_t?
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// The argument of the new thread.
    private final class Start: Sendable {
        let work: @Sendable () -> Void
        init(_ work: @escaping @Sendable () -> Void) { self.work = work }
    }

    private let state = Mutex(State())

    /// Runs `work` on a new thread that blocks every signal, also SIGPIPE of a TLS connection.
    /// - Throws: the error of pthread_create(3).
    func run(_ work: @escaping @Sendable () -> Void) throws(CurlLoader.SetupError) {
        let start = Start { [self] in
            Self.blockSignals()
            work()
            end()
        }
        let context = unsafe Unmanaged.passRetained(start)
        var handle = pthread_t()
        let code = unsafe pthread_create(
            &handle, nil,
            { context in
                // Safe because `run` retained exactly one reference for this thread.
                if let context = unsafe context {
                    unsafe Unmanaged<Start>.fromOpaque(context).takeRetainedValue().work()
                }
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            unsafe context.release()
            throw .thread(code)
        }
        let created = handle
        state.withLock { $0.handle = created }
    }

    /// Waits until the work has ended, then joins the thread.
    func join() async {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.waiters.append(continuation) }
                return state.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
        // The thread only has to return, so this does not block the caller's thread.
        if let handle = takeHandle() { pthread_join(handle, nil) }
    }

    /// Detaches the thread, which then ends without a join.
    func detach() {
        if let handle = takeHandle() { pthread_detach(handle) }
    }

    private func takeHandle() -> pthread_t? {
        state.withLock { state in
            defer { state.handle = nil }
            return state.handle
        }
    }

    private func end() {
        let waiters = state.withLock { state in
            defer { state.waiters = [] }
            state.hasEnded = true
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    private static func blockSignals() {
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_BLOCK, &all, nil)
    }
}
