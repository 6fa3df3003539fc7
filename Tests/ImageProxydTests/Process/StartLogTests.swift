// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("libdispatch's lines in the log")
struct StartLogTests {
    @Test("The daemon turns libdispatch's log off, unless the operator has set LIBDISPATCH_LOG")
    func setting() async {
        await #expect(processExitsWith: .success) {
            unsetenv("LIBDISPATCH_LOG")
            EntryPoint.silenceLibdispatch()
            #expect(String(cString: getenv("LIBDISPATCH_LOG")) == "NO")

            setenv("LIBDISPATCH_LOG", "stderr", 1)
            EntryPoint.silenceLibdispatch()
            #expect(String(cString: getenv("LIBDISPATCH_LOG")) == "stderr")
        }
    }

    @Test(
        "With LIBDISPATCH_LOG=stderr, the failure to raise a thread's priority is logged, otherwise it is not",
        arguments: ["stderr", "NO"])
    func lines(value: String) async throws {
        // Removes root's privileges that other users lack.
        let unprivileged =
            geteuid() == 0
            ? ["/usr/bin/setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice", "--"] : []
        let folder = try TemporaryDirectory()
        let daemon = try await DaemonProcess.start(
            in: folder.path,
            configuration: """
                {"transform": {"isolation": "none"}, "cache": {"disk": {"directory": "\(folder.path)/cache"}}}
                """,
            environment: ["LIBDISPATCH_LOG=\(value)"], through: unprivileged)
        daemon.send(signal: SIGTERM)
        _ = try await daemon.exitCode()

        #expect(daemon.log.contains("listening on"))
        #expect(daemon.log.contains("Failed to set thread priority") == (value == "stderr"))
    }
}
