// SPDX-License-Identifier: Apache-2.0

extension StringProtocol {
    /// The text as an error names it: only the beginning of a long one, which its writer knows.
    public var excerpt: String {
        guard utf8.count > excerptScalars else { return String(self) }
        return String(String.UnicodeScalarView(unicodeScalars.prefix(excerptScalars))) + "…"
    }
}

/// Most scalars of a text in an error: more than any name has that exists.
private let excerptScalars = 64
