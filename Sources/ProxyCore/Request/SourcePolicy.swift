// SPDX-License-Identifier: Apache-2.0

/// Which sources the configuration allows, by URL patterns.
public struct SourcePolicy: Sendable, Hashable {
    private let patterns: [URLPattern]

    /// Any source.
    public static let unrestricted = SourcePolicy()

    private init() {
        patterns = []
    }

    /// Reads patterns; no pattern at all allows every source.
    /// - Throws: the first pattern that is none, with the reason.
    public init(patterns: [String]) throws(SourcePolicyError) {
        var parsed: [URLPattern] = []
        for (index, text) in patterns.enumerated() {
            do throws(URLPattern.Invalid) {
                parsed.append(try URLPattern(text))
            } catch {
                throw SourcePolicyError(index: index, reason: error.reason)
            }
        }
        self.patterns = parsed
    }

    /// Whether any source is allowed: no pattern is configured.
    public var allowsEverything: Bool { patterns.isEmpty }

    /// Whether `url` may be fetched.
    public func allows(_ url: SourceURL) -> Bool {
        guard !patterns.isEmpty else { return true }
        return !URLPattern.hidesDotSegment(url.path) && patterns.contains { $0.matches(url) }
    }
}

/// A source pattern that can't be used.
public struct SourcePolicyError: Error, Sendable, Hashable {
    /// The pattern's place in the list, from 0.
    public let index: Int
    /// What is wrong with it.
    public let reason: String
}
