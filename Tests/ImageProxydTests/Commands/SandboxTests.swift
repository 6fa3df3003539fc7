// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import ImageProxyd

@Suite("Sealed workers")
struct SandboxTests {
    private struct Outcome {
        var code: Int32
        var lines: [String]
    }

    /// Runs the program on a kernel without some calls; errors follow the output.
    private func run(_ arguments: String..., without calls: [String] = []) async throws -> Outcome {
        try await withoutCalls(calls) {
            let process = Foundation.Process()
            let output = Pipe()
            process.executableURL = URL(fileURLWithPath: DaemonProcess.executable)
            process.arguments = arguments
            process.environment = [:]
            process.standardOutput = output
            process.standardError = output
            try process.run()
            let text = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
            return Outcome(code: process.terminationStatus, lines: lines)
        }
    }

    @Test("A sealed worker can open, reach and start nothing, and renders every format")
    func selfTest() async throws {
        let outcome = try await run("check-sandbox")

        #expect(outcome.code == 0, "\(outcome.lines)")
        #expect(outcome.lines.count { $0.hasPrefix("refused:") } == 10)
        #expect(outcome.lines.count { $0.hasPrefix("works:") } == 7)
        #expect(outcome.lines.first?.hasPrefix("sealed by Landlock") == true)
    }

    @Test("Without Landlock the list of calls keeps files closed, and pictures are rendered all the same")
    func withoutLandlock() async throws {
        let outcome = try await run("check-sandbox", without: ["landlock_create_ruleset"])

        #expect(outcome.lines.first?.contains("missing: Landlock") == true, "\(outcome.lines)")
        #expect(outcome.lines.count { $0.hasPrefix("refused:") } == 10)
        #expect(outcome.lines.count { $0.hasPrefix("works:") } >= 6)
        #expect(!outcome.lines.contains { $0.hasPrefix("ALLOWED") })
    }

    @Test(
        "The daemon does not start without a part of the sandbox, and says which",
        arguments: [("landlock_create_ruleset", "Landlock"), ("seccomp", "seccomp")])
    func required(call: String, part: String) async throws {
        let folder = try TemporaryDirectory()
        let configuration = folder.path + "/config.json"
        try """
        {"listen": ["unix:\(folder.path)/http.sock"], "cache": {"disk": {"directory": "\(folder.path)/cache"}}}
        """.write(toFile: configuration, atomically: false, encoding: .utf8)

        let outcome = try await run("serve", "--config", configuration, without: [call])

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

        let log = try await withoutCalls(["landlock_create_ruleset"]) {
            let process = Foundation.Process()
            let output = Pipe()
            process.executableURL = URL(fileURLWithPath: DaemonProcess.executable)
            process.arguments = ["serve", "--config", configuration]
            process.environment = [:]
            process.standardError = output
            process.standardOutput = output
            try process.run()
            var log = ""
            while !log.contains("listening on") {
                let more = output.fileHandleForReading.availableData
                guard !more.isEmpty else { break }
                log += String(decoding: more, as: UTF8.self)
            }
            process.terminate()
            process.waitUntilExit()
            return log
        }

        #expect(
            log.contains("workers are only sealed by a list of system calls; missing: Landlock"), "\(log)")
    }
}
