// SPDX-License-Identifier: Apache-2.0

import Foundation
import Primitives
import TestSupport
import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("Command line")
struct CommandTests {
    private func run(
        _ arguments: String..., environment: [String: String] = [:]
    ) async throws -> OtherProgram.Outcome {
        try await OtherProgram.run(DaemonProcess.executable, arguments, environment: environment)
    }

    private func file(_ text: String) throws -> String {
        let path = NSTemporaryDirectory() + "imageproxyd-\(UUID().uuidString).json"
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        return path
    }

    @Test("version prints the release")
    func version() async throws {
        #expect(try await run("version").output == "imageproxyd \(Version.current)\n")
        #expect(try await run("--version").output == "\(Version.current)\n")
    }

    @Test(
        "check-config and serve both exit with 78 if an origin rule names something unusable",
        arguments: [
            (#""loader": "file", "root": "/nonexistent""#, "root"),
            (#""tls": {"ca": "/etc/passwd"}"#, "tls.ca"),
            (#""auth": {"type": "bearer", "token": {"file": "/nonexistent"}}"#, "auth"),
            (#""requestHeaders": {"X": {"file": "/dev/null"}}"#, "requestHeaders"),
        ])
    func namedFiles(rule: String, member: String) async throws {
        let path = try file(
            #"{"origins": [{"match": "https://a/*"}, {"match": "https://b/*", "# + rule + "}]}")
        defer { unlink(path) }

        for command in ["check-config", "serve"] {
            let outcome = try await run(command, "--config", path, "--listen", "127.0.0.1:0")
            #expect(outcome.code == 78)
            #expect((outcome.output + outcome.errors).contains("origins.1.\(member): "))
        }
    }

    @Test("config --defaults prints the defaults, whatever the environment says")
    func defaults() async throws {
        let outcome = try await run("config", "--defaults", environment: ["IMAGEPROXYD_QUALITY_JPEG": "1"])

        #expect(outcome.code == 0)
        #expect(outcome.output == ProxyConfiguration.defaults.pretty() + "\n")
    }

    @Test("config prints the effective settings as a file with the same meaning")
    func effective() async throws {
        let first = try await run(
            "config", "--listen", "unix:/tmp/a b",
            environment: ["IMAGEPROXYD_FETCH_HEADERS": "{\"X-A\": \"1\"}"])
        let path = try file(first.output)
        defer { unlink(path) }

        let second = try await run("config", "--config", path)

        #expect(first.output.contains("\"listen\": [\"unix:/tmp/a b\"]"))
        #expect(second.output == first.output)
    }

    @Test("config prints no key and no token that was pasted in place of its file's path")
    func pastedSecrets() async throws {
        let path = try file(
            """
            {"security": {"keys": ["my-super-secret-key", "/Wm9vQmFyQmF6UXV4MTIzNDU2", "/etc/none/key", "credential:key"]},
             "admin": {"token": "hunter2hunter2hunter2"}}
            """)
        defer { unlink(path) }

        let outcome = try await run("config", "--config", path)

        #expect(outcome.code == 0)
        #expect(outcome.output.contains(#""keys": ["***", "***", "/etc/none/key", "credential:key"]"#))
        #expect(outcome.output.contains(#""token": "***""#))
    }

    @Test(
        "check-config and serve say that there is no journal",
        .enabled(if: access("/run/systemd/journal/socket", F_OK) != 0))
    func noJournal() async throws {
        for (command, code) in [("check-config", 78), ("serve", 1)] {
            let outcome = try await run(
                command, "--listen", "127.0.0.1:0", environment: ["IMAGEPROXYD_LOG_FORMAT": "journald"])

            #expect(outcome.code == code)
            #expect(
                outcome.errors.hasSuffix(
                    """
                    log.format: journald: /run/systemd/journal/socket: No such file or directory; use text or json

                    """), "\(outcome.errors)")
        }
    }

    @Test("check-config exits with 0 if the settings are valid")
    func fine() async throws {
        let path = try file("{\"quality\": {\"jpeg\": 70}}")
        defer { unlink(path) }

        #expect(try await run("check-config", "--config", path).code == 0)
    }

    @Test(
        "Invalid settings exit with 78, and all of them are named",
        arguments: ["check-config", "serve", "config"])
    func wrongSettings(command: String) async throws {
        let path = try file("{\"quality\": {\"jpeg\": 0, \"web\": 1}}")
        defer { unlink(path) }

        let outcome = try await run(command, "--config", path)

        #expect(outcome.code == 78)
        #expect(
            outcome.errors == """
                \(path):1:32: quality.web: unknown key, did you mean webp?
                \(path):1:22: quality.jpeg: 0 is not allowed, expected 1 to 100

                """)
        #expect(outcome.output.isEmpty)
    }

    @Test("A file that can't be read exits with 78 and the reason")
    func noFile() async throws {
        let outcome = try await run("check-config", "--config", "/nonexistent/c.json")

        #expect(outcome.code == 78)
        #expect(outcome.errors == "/nonexistent/c.json: No such file or directory\n")
    }

    @Test(
        "Invalid usage exits with 64",
        arguments: [["serve", "--nonsense"], ["nonsense"], ["serve", "--config"]])
    func wrongUsage(arguments: [String]) async throws {
        let outcome =
            arguments.count == 2 ? try await run(arguments[0], arguments[1]) : try await run(arguments[0])

        #expect(outcome.code == 64)
    }

    @Test("The worker command is hidden from the help")
    func hiddenWorker() async throws {
        #expect(try await !run("--help").output.contains("worker"))
    }

    @Test("Completion scripts are available for the shells", arguments: ["bash", "zsh", "fish"])
    func completion(shell: String) async throws {
        #expect(try await run("--generate-completion-script", shell).output.contains("check-config"))
    }
}
