// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Where the values of settings stand: in the file, the environment or the command line.
struct SettingPlaces: Sendable {
    /// The origin of each value by its path, in the order in which they were laid over each other.
    var origins: [(path: String, origin: ConfigurationIssue.Origin)] = []
    /// Where each value of the file begins, by its path.
    var positions: [String: TextPosition] = [:]

    /// Returns the issue with the place of its value; the last origin wins. What contradicts a default has no place.
    ///
    /// In the file that is where the value itself stands, also inside a list, or an object of any names.
    func located(_ issue: ConfigurationIssue) -> ConfigurationIssue {
        var issue = issue
        issue.origin = origins.last { issue.path == $0.path || issue.path.hasPrefix($0.path + ".") }?.origin
        issue.origin = issue.origin.map { placed($0, at: issue.path) }
        return issue
    }

    /// Returns an origin with the position of the value at a path, or of the closest one around it.
    func placed(_ origin: ConfigurationIssue.Origin, at path: String) -> ConfigurationIssue.Origin {
        guard case .file(let name, _) = origin else { return origin }
        var path = path[...]
        while positions[String(path)] == nil {
            guard let dot = path.lastIndex(of: ".") else { return origin }
            path = path[..<dot]
        }
        return .file(name, positions[String(path)])
    }

    /// Returns an error with the places of its issues.
    func located(_ error: ConfigurationError) -> ConfigurationError {
        ConfigurationError(issues: error.issues.map { located($0) })
    }
}
