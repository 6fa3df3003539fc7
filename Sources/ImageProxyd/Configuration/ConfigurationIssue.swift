// SPDX-License-Identifier: Apache-2.0

import Primitives

/// A problem in the settings, in the operator's words.
struct ConfigurationIssue: Error, Sendable, Hashable, CustomStringConvertible {
    /// The key's path, such as `cache.memory.maxBytes`; empty for the file as a whole.
    var path: String
    /// The problem, with the value and what is allowed.
    var problem: String
    /// Where the value came from; nil until the loader has set it.
    var origin: Origin?

    /// Where a value came from.
    enum Origin: Sendable, Hashable, CustomStringConvertible {
        /// A file, and the position in it if that is known.
        case file(String, TextPosition?)
        /// A variable of the environment.
        case environment(String)
        /// A flag of the command line.
        case flag(String)

        var description: String {
            switch self {
            case .file(let name, let position): position.map { "\(name):\($0)" } ?? name
            case .environment(let name): "environment \(name)"
            case .flag(let name): name
            }
        }
    }

    /// `config.json:3:17: cache.disk.lowWater: 7.5 is not allowed, expected 0.1 to 1`.
    var description: String {
        [origin?.description, path.isEmpty ? nil : path, problem].compactMap(\.self).joined(separator: ": ")
    }
}

/// Why the settings can't be used: every problem that was found, not only the first.
struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    /// The problems; never empty.
    var issues: [ConfigurationIssue]

    var description: String { issues.map(\.description).joined(separator: "\n") }
}
