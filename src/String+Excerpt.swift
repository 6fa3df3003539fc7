// SPDX-License-Identifier: Apache-2.0

extension StringProtocol {
    /// The text for an error message: only the beginning of a long text.
    package var excerpt: String {
        guard utf8.count > excerptScalars else { return String(self) }
        return String(String.UnicodeScalarView(unicodeScalars.prefix(excerptScalars))) + "…"
    }
}

/// The maximum number of scalars of a text in an error: more than any existing name has.
private let excerptScalars = 64
