// SPDX-License-Identifier: Apache-2.0

/// The sources that the configuration allows, by URL patterns.
package struct SourcePolicy: Sendable, Hashable {
    private let patterns: [URLPattern]

    package static let unrestricted = SourcePolicy()

    private init() {
        patterns = []
    }

    /// Parses patterns; an empty list allows every source.
    /// - Throws: the first invalid pattern, with the reason.
    package init(patterns: [String], buckets: Buckets = .none) throws(SourcePolicyError) {
        var parsed: [URLPattern] = []
        for (index, text) in patterns.enumerated() {
            do throws(URLPattern.Invalid) {
                parsed += try buckets.patterns(text)
            } catch {
                throw SourcePolicyError(index: index, reason: error.reason)
            }
        }
        self.patterns = parsed
    }

    /// Whether `url` may be fetched.
    package func allows(_ url: SourceURL) -> Bool {
        guard !patterns.isEmpty else { return true }
        return !URLPattern.hidesDotSegment(url.path) && patterns.contains { $0.matches(url) }
    }
}

/// An invalid source pattern.
package struct SourcePolicyError: Error, Sendable, Hashable {
    /// The pattern's index in the list, from 0.
    package let index: Int
    /// Why it is invalid.
    package let reason: String
}
