// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Other programs, run to their end.
public enum Program {
    /// Where a program is; nil when the machine lacks it.
    public static func path(of name: String) -> String? {
        ["/usr/bin/", "/bin/", "/usr/local/bin/"].map { $0 + name }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Runs a program and returns its standard output.
    public static func run(_ program: String, _ arguments: String...) async throws -> String {
        try await onThread {
            let process = Process()
            let output = Pipe()
            process.executableURL = URL(fileURLWithPath: program)
            process.arguments = arguments
            process.standardOutput = output
            try process.run()
            let text = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return String(decoding: text, as: UTF8.self)
        }
    }
}
