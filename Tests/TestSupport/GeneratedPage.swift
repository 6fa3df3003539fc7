// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A page of the documentation whose end, after a mark, is generated from the code's declarations.
public struct GeneratedPage: Sendable {
    /// The last line that is written by hand.
    public static let mark = "<!-- What follows is made of the code: make documents -->\n"

    private let path: String

    /// A page; `path` is relative to the repository's root.
    public init(_ path: String) { self.path = path }

    /// Whether the page ends with these tables; with the variable DOCUMENT set, they are written.
    public func ends(with tables: String) -> Bool {
        let text = TextFiles.read(path)
        let prose = text.split(separator: Self.mark, maxSplits: 1, omittingEmptySubsequences: false)[0]
        let made = prose + Self.mark + tables
        if getenv("DOCUMENT") != nil {
            TextFiles.write(String(made), to: path)
            return true
        }
        return text == made
    }
}

/// A file that is generated whole from the code's declarations.
public struct GeneratedFile: Sendable {
    private let path: String

    /// A file; `path` is relative to the repository's root.
    public init(_ path: String) { self.path = path }

    /// Whether the file's content is this text; with the variable DOCUMENT set, it is written.
    public func holds(_ text: String) -> Bool {
        guard getenv("DOCUMENT") != nil else { return TextFiles.read(path) == text }
        TextFiles.write(text, to: path)
        return true
    }
}
