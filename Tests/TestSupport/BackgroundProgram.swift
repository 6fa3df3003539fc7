// SPDX-License-Identifier: Apache-2.0

import CLinux
import Foundation
import Glibc

/// Another program that runs beside the tests, and ends with them.
public final class BackgroundProgram: Sendable {
    private let process: ChildProcess
    private let output: CInt
    private let folder: TemporaryDirectory

    /// Starts a program with its output and errors in a pipe.
    public init(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        folder = try TemporaryDirectory()
        let path = folder.path + "/output"
        guard mkfifo(path, 0o600) == 0 else {
            throw DaemonProcess.Failure(description: "mkfifo \(path): \(errno)")
        }
        // Open before the program opens its end, which would wait.
        output = linux_open(path, O_RDONLY | O_NONBLOCK, 0)
        process = try MortalProcess.spawn(
            [program] + arguments, environment: environment.map { "\($0.key)=\($0.value)" }, log: path)
        _ = fcntl(output, F_SETFL, 0)
    }

    /// Waits until a line of the output has this form, and returns what its first group matched.
    public func firstLine(matching pattern: Regex<(Substring, Substring)>) async throws -> String {
        // Safe because a regular expression is a value; its type lacks the conformance.
        nonisolated(unsafe) let pattern = pattern
        return try await onThread { [output] in
            var text = ""
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = read(output, &buffer, buffer.count)
                guard count >= 0 || errno != EINTR else { continue }
                guard count > 0 else {
                    throw DaemonProcess.Failure(description: "no further line (\(count), \(errno)): \(text)")
                }
                text += String(decoding: buffer.prefix(count), as: UTF8.self)
                if let match = text.firstMatch(of: pattern) { return String(match.output.1) }
            }
        }
    }

    deinit {
        process.send(signal: SIGKILL)
        close(output)
    }
}
