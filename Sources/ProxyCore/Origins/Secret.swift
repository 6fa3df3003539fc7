// SPDX-License-Identifier: Apache-2.0

/// A text that must not be seen: what prints it prints that it is there, and nothing else.
public struct Secret: Sendable {
    /// The text itself, for the one who has to send it.
    let text: String

    /// Wraps a text.
    public init(_ text: String) {
        self.text = text
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// That it is there.
    public var description: String { "(secret)" }
    /// That it is there.
    public var debugDescription: String { "(secret)" }
    /// Shows nothing to `dump`.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
