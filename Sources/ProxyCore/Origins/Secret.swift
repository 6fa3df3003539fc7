// SPDX-License-Identifier: Apache-2.0

/// A text that is never printed: descriptions show only that it exists.
public struct Secret: Sendable {
    /// The text itself, for sending.
    let text: String

    /// Wraps a text.
    public init(_ text: String) {
        self.text = text
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A constant text.
    public var description: String { "(secret)" }
    /// A constant text.
    public var debugDescription: String { "(secret)" }
    /// Hides the text from `dump`.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
