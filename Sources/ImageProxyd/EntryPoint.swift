// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dispatch
import Glibc
import ProxyCore

/// Where the process begins.
@main
enum EntryPoint {
    /// A worker runs on the main thread before there is another one, since it seals itself thread by thread.
    static func main() {
        switch CommandLine.arguments.dropFirst() {
        case ["worker"]: WorkerMain.run()
        case ["worker", "--self-test"]: SandboxCheck.run()
        default: break
        }
        // Without a priority a task of a thread that is no task itself gets a higher one, for which libdispatch raises its
        // threads' priority: nobody but root may, and the system's log hears of each.
        Task(priority: .medium) {
            await Main.main()
            exit(0)
        }
        dispatchMain()
    }
}
