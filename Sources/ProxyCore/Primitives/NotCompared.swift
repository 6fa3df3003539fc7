// SPDX-License-Identifier: Apache-2.0

/// What is known of something beside what it is: two are always equal.
package protocol NotCompared: Hashable {}

extension NotCompared {
    /// Always true.
    package static func == (left: Self, right: Self) -> Bool { true }

    /// Adds nothing.
    package func hash(into hasher: inout Hasher) {}
}
