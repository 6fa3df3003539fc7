// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// Runs other programs to their end.
///
/// Not with Foundation's `Process`, which was seen to close descriptors of others when many run at once.
public enum OtherProgram {
    /// How a program ended.
    public struct Outcome: Sendable {
        /// Its exit code, or 128 + the signal that ended it.
        public var code: Int
        /// Its standard output.
        public var output: String
        /// Its standard error.
        public var errors: String
    }

    /// The path of a program; nil if the machine lacks it.
    public static func path(of name: String) -> String? {
        ["/usr/bin/", "/bin/", "/usr/local/bin/"].map { $0 + name }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Runs a program.
    public static func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> Outcome {
        let folder = try TemporaryDirectory()
        return try await onThread {
            let (output, errors) = (folder.path + "/output", folder.path + "/errors")
            let process = try MortalProcess.spawn(
                [program] + arguments, environment: environment.map { "\($0.key)=\($0.value)" },
                output: output,
                errors: errors)
            return Outcome(
                code: try process.end(),
                output: String(decoding: try folder.read("output"), as: UTF8.self),
                errors: String(decoding: try folder.read("errors"), as: UTF8.self))
        }
    }

    /// Runs a program and returns its output.
    public static func run(_ program: String, _ arguments: String...) async throws -> String {
        try await run(program, arguments, environment: ["PATH": "/usr/bin:/bin"]).output
    }
}
