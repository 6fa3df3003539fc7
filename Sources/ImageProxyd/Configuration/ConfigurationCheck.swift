// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Collects values that are out of bounds; each section describes its bounds by calling it.
struct ConfigurationCheck {
    /// The problems.
    private(set) var issues: [ConfigurationIssue] = []
    /// The range of each setting that has one, by its key.
    private(set) var ranges: [String: String] = [:]

    /// Reports `value` at `path`; `allowed` completes "expected …".
    mutating func refuse(_ path: String, _ value: some Any, allowed: String) {
        let shown = SecretSettings.contains(path) ? "the value" : quotedIfText(value)
        let problem = "\(shown) is not allowed, expected \(allowed)"
        issues.append(ConfigurationIssue(path: path, problem: problem))
    }

    /// Reports a problem in its own words.
    mutating func reportError(_ path: String, _ problem: String) {
        issues.append(ConfigurationIssue(path: path, problem: problem))
    }

    /// Requires that a number or size lies within `range`.
    mutating func require<Value: Comparable>(_ path: String, _ value: Value, in range: ClosedRange<Value>) {
        let allowed = "\(range.lowerBound) to \(range.upperBound)"
        ranges[path] = allowed
        if !range.contains(value) { refuse(path, value, allowed: allowed) }
    }

    /// Requires that a number lies within `range`, or is 0, which has a meaning of its own.
    mutating func require(_ path: String, _ value: Int, in range: ClosedRange<Int>, orZero meaning: String) {
        let allowed = "\(range.lowerBound) to \(range.upperBound), or 0 for \(meaning)"
        ranges[path] = allowed
        if value != 0, !range.contains(value) { refuse(path, value, allowed: allowed) }
    }

    /// Requires that a size lies within `range`, or is 0, which has a meaning of its own.
    mutating func require(
        _ path: String, _ value: ByteCount, in range: ClosedRange<ByteCount>, orZero meaning: String
    ) {
        let allowed = "\(range.lowerBound) to \(range.upperBound), or 0 for \(meaning)"
        ranges[path] = allowed
        if value.bytes != 0, !range.contains(value) { refuse(path, value, allowed: allowed) }
    }

    /// Requires a condition that is not a range.
    mutating func require(_ path: String, _ value: some Any, _ isMet: Bool, allowed: String) {
        if !isMet { refuse(path, value, allowed: allowed) }
    }

    private func quotedIfText(_ value: some Any) -> String {
        (value as? String).map { JSONValue.string($0).compact } ?? "\(value)"
    }
}
