// SPDX-License-Identifier: Apache-2.0

import Glibc
import Primitives
import Synchronization

/// The loader's own thread, because libcurl's poll blocks; joined once, after its work has ended.
final class LoaderThread: Sendable {
    private struct State {
        var hasEnded = false
        var handle: pthread_t?
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Runs `work` on a new thread.
    /// - Throws: the error of pthread_create(3).
    func run(_ work: @escaping @Sendable () -> Void) throws(CurlLoader.SetupError) {
        do throws(BlockingThread.StartError) {
            let handle = try BlockingThread.start { [self] in
                work()
                end()
            }
            state.withLock { $0.handle = handle }
        } catch {
            throw .thread(error.code)
        }
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
}
