// SPDX-License-Identifier: Apache-2.0

/// A text that is never printed: descriptions show only that it exists.
package struct Secret: Sendable, Hashable {
    /// The text itself, for sending.
    package let text: String

    /// Wraps a text.
    package init(_ text: String) {
        self.text = text
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A constant text.
    package var description: String { "(secret)" }
    /// A constant text.
    package var debugDescription: String { "(secret)" }
    /// Hides the text from `dump`.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
