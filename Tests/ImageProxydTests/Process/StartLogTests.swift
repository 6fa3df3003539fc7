// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@Suite("The log of a start")
struct StartLogTests {
    /// Takes from root what others lack.
    private static let unprivileged =
        geteuid() == 0
        ? ["/usr/bin/setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice", "--"] : []

    @Test("has no line of libdispatch's, although nobody but root may raise a thread's priority")
    func threadPriorities() async throws {
        let folder = try TemporaryDirectory()
        let daemon = try await DaemonProcess.start(
            in: folder.path,
            configuration: """
                {"transform": {"isolation": "none"}, "cache": {"disk": {"directory": "\(folder.path)/cache"}}}
                """,
            environment: ["LIBDISPATCH_LOG=stderr"], through: Self.unprivileged)
        daemon.send(signal: SIGTERM)
        _ = try await daemon.exitCode()

        #expect(daemon.log.contains("listening on"))
        #expect(!daemon.log.contains("thread priority"))
    }
}
