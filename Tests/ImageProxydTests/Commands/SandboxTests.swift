// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("Sandboxed workers")
struct SandboxTests {
    @Test("A sandboxed worker opens no file, connection or process, and renders every format")
    func selfTest() async throws {
        let outcome = try await LackingKernel.run(["check-sandbox"], without: [])

        #expect(outcome.code == 0, "\(outcome.lines)")
        #expect(outcome.lines.count { $0.hasPrefix("refused:") } == 17)
        #expect(outcome.lines.count { $0.hasPrefix("works:") } == 7)
        #expect(outcome.lines.first?.hasPrefix("restricted by Landlock") == true)
    }

    @Test("Without Landlock the list of system calls forbids files, and pictures are rendered")
    func withoutLandlock() async throws {
        let outcome = try await LackingKernel.run(["check-sandbox"], without: ["landlock_create_ruleset"])

        #expect(outcome.lines.first?.contains("missing: Landlock") == true, "\(outcome.lines)")
        #expect(outcome.lines.count { $0.hasPrefix("refused:") } == 17)
        #expect(outcome.lines.count { $0.hasPrefix("works:") } >= 6)
        #expect(!outcome.lines.contains { $0.hasPrefix("ALLOWED") })
    }

    @Test(
        "The daemon does not start without a part of the sandbox, and names that part",
        arguments: [("landlock_create_ruleset", "Landlock"), ("seccomp", "seccomp")])
    func required(call: String, part: String) async throws {
        let folder = try TemporaryDirectory()
        let configuration = folder.path + "/config.json"
        try """
        {"listen": ["unix:\(folder.path)/http.sock"], "cache": {"disk": {"directory": "\(folder.path)/cache"}}}
        """.write(toFile: configuration, atomically: false, encoding: .utf8)

        let outcome = try await LackingKernel.run(["serve", "--config", configuration], without: [call])

        #expect(outcome.code == 1)
        let text = outcome.lines.joined()
        #expect(text.contains("transform.sandbox is required") && text.contains(part), "\(text)")
    }

    @Test("With bestEffort the daemon starts without Landlock, warns, and renders")
    func bestEffort() async throws {
        let folder = try TemporaryDirectory()
        let configuration = folder.path + "/config.json"
        try """
        {"listen": ["unix:\(folder.path)/http.sock"], "transform": {"workers": 1, "sandbox": "bestEffort"}, \
        "cache": {"disk": {"directory": "\(folder.path)/cache"}}}
        """.write(toFile: configuration, atomically: false, encoding: .utf8)

        let outcome = try await LackingKernel.run(
            ["serve", "--config", configuration], without: ["landlock_create_ruleset"],
            until: "listening on")

        let warning = "workers are only restricted by a list of system calls; missing: Landlock"
        #expect(outcome.lines.contains { $0.contains(warning) }, "\(outcome.lines)")
    }
}
