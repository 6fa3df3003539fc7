// SPDX-License-Identifier: Apache-2.0

package import Glibc

/// A thread for work that blocks for long.
package enum BlockingThread {
    /// A thread can't be created.
    package struct StartError: Error {
        /// The error of pthread_create(3).
        package let code: CInt
    }

    /// The argument of the new thread.
    private final class Start: Sendable {
        let work: @Sendable () -> Void
        init(_ work: @escaping @Sendable () -> Void) { self.work = work }
    }

    /// Runs `work` on a new thread, which is to be joined or detached.
    ///
    /// It blocks every signal: the main thread handles them, and what is written to a closed pipe or connection is an error, not
    /// SIGPIPE.
    package static func start(_ work: @escaping @Sendable () -> Void) throws(StartError) -> pthread_t {
        let context = unsafe Unmanaged.passRetained(Start(work))
        var handle = pthread_t()
        let code = unsafe pthread_create(
            &handle, nil,
            { context in
                var all = sigset_t()
                unsafe sigfillset(&all)
                unsafe pthread_sigmask(SIG_BLOCK, &all, nil)
                // Safe because `start` retained exactly one reference for this thread.
                if let context = unsafe context {
                    unsafe Unmanaged<Start>.fromOpaque(context).takeRetainedValue().work()
                }
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            unsafe context.release()
            throw StartError(code: code)
        }
        return handle
    }
}
