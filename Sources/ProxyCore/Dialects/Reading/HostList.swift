// SPDX-License-Identifier: Apache-2.0

import URLs

/// The hosts that a dialect allows in absolute URLs, besides what `security` allows.
struct HostList: Sendable, Hashable {
    private let patterns: [String]

    /// - Parameter patterns: names; `*.example.org` for those below one, `*` for all.
    init(_ patterns: [String]) {
        self.patterns = patterns.map { $0.lowercased() }
    }

    /// Whether the URL's host is one of them; false for what is no URL, too.
    func allows(_ url: String) -> Bool {
        guard !patterns.contains("*") else { return true }
        // Ignored: what is wrong with the URL. It is refused, and our own parser says so where all are allowed.
        guard let host = try? SourceURL(parsing: url).host else { return false }
        return patterns.contains { pattern in
            pattern.hasPrefix("*.") ? host.hasSuffix(pattern.dropFirst()) : host == pattern
        }
    }
}
