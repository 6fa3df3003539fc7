// SPDX-License-Identifier: Apache-2.0

/// The restrictions of a worker, and the missing ones.
package struct SandboxReport: Sendable, Hashable, Codable {
    /// The version of the kernel's Landlock interface that restricts files; nil if it is unavailable.
    var landlock: Int?
    /// Whether system calls outside the worker's list are refused.
    var filtersCalls = false
    /// The restrictions that the kernel does not support, in words.
    package var missing: [String] = []

    /// No restriction yet.
    init() {}

    /// Whether all restrictions are in force.
    package var isComplete: Bool { missing.isEmpty }
}

extension SandboxReport: CustomStringConvertible {
    /// One line for a log.
    package var description: String {
        let files = landlock.map { "Landlock version \($0)" }
        let parts = [files, filtersCalls ? "a list of system calls" : nil].compactMap { $0 }
        let held = parts.isEmpty ? "resource limits alone" : parts.joined(separator: " and ")
        return isComplete
            ? "restricted by \(held)" : "restricted by \(held); missing: \(missing.joined(separator: "; "))"
    }
}
