// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dispatch
import Glibc
import ProxyCore

/// Where the process begins.
@main
enum EntryPoint {
    /// A worker runs on the main thread before there is another one, since its sandbox is set up thread by
    /// thread.
    static func main() {
        switch CommandLine.arguments.dropFirst() {
        case ["worker"]: WorkerMain.run()
        case ["worker", "--self-test"]: SandboxCheck.run()
        default: break
        }
        silenceLibdispatch()
        Task {
            await Main.main()
            exit(0)
        }
        dispatchMain()
    }

    /// Stops libdispatch from writing a line to the system's log for each thread whose priority it may not
    /// raise.
    ///
    /// It tries that for its own thread, too, and only root may. Must be called before there is another
    /// thread; with `LIBDISPATCH_LOG=stderr` in the environment the lines are written.
    static func silenceLibdispatch() {
        unsafe setenv("LIBDISPATCH_LOG", "NO", 0)
    }
}
