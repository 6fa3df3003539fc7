// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The entry of `imageproxyd worker`.
package enum WorkerMain {
    /// Serves jobs from descriptor 3 until the daemon closes its end; the process then exits with 0.
    ///
    /// Started by anything but the daemon it exits with 64 (`EX_USAGE`).
    package static func run() -> Never {
        exit(Worker(socket: WorkerProtocol.socketDescriptor).run())
    }
}
