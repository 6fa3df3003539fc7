// SPDX-License-Identifier: Apache-2.0

/// What is known of one failure beyond its kind: half a sentence with a number, a setting or both, safe to show to clients.
///
/// Not part of what a failure is: two explanations are always equal.
package struct Explanation: Sendable, Codable {
    /// The text; empty when nothing is known.
    package let text: String

    /// Wraps a text.
    package init(_ text: String) {
        self.text = text
    }
}

extension Explanation: ExpressibleByStringInterpolation {
    /// Wraps a text.
    package init(stringLiteral text: String) {
        self.init(text)
    }
}

extension Explanation: Hashable {
    /// Always true.
    package static func == (left: Explanation, right: Explanation) -> Bool { true }

    /// Adds nothing.
    package func hash(into hasher: inout Hasher) {}
}
