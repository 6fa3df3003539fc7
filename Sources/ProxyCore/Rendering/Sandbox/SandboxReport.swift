// SPDX-License-Identifier: Apache-2.0

/// What a worker may not do any more, and what keeps it from that.
public struct SandboxReport: Sendable, Hashable, Codable {
    /// The version of the kernel's Landlock interface that guards files; nil where the kernel lets us have none.
    public var landlock: Int?
    /// Whether system calls outside the worker's list are refused.
    public var filtersCalls = false
    /// What the kernel lets us not have, in words.
    public var missing: [String] = []

    /// Nothing yet.
    init() {}

    /// Whether everything is in force.
    public var isComplete: Bool { missing.isEmpty }
}

extension SandboxReport: CustomStringConvertible {
    /// One line for a log.
    public var description: String {
        let files = landlock.map { "Landlock version \($0)" }
        let parts = [files, filtersCalls ? "a list of system calls" : nil].compactMap { $0 }
        let held = parts.isEmpty ? "resource limits alone" : parts.joined(separator: " and ")
        return isComplete
            ? "sealed by \(held)" : "sealed by \(held); missing: \(missing.joined(separator: "; "))"
    }
}
