// SPDX-License-Identifier: Apache-2.0

/// Which sources the configuration allows: URL patterns in which `*` stands for any run of characters.
///
/// A pattern is `scheme://host[:port]/path`, compared with the normalised URL; a `*` in the host part never crosses
/// into the path. Matching takes time linear in both lengths for each `*`: no backtracking beyond the last one.
public struct SourcePolicy: Sendable, Hashable {
    private let patterns: [Pattern]

    /// A pattern cut into its authority and its path.
    private struct Pattern: Sendable, Hashable {
        let authority: [UInt8]
        let path: [UInt8]
    }

    /// Any source.
    public static let unrestricted = SourcePolicy()

    private init() {
        patterns = []
    }

    /// Reads patterns; no pattern at all allows every source.
    /// - Throws: the first pattern that is none, with the reason.
    public init(patterns: [String]) throws(SourcePolicyError) {
        var parsed: [Pattern] = []
        for (index, text) in patterns.enumerated() {
            guard text.hasPrefix("http://") || text.hasPrefix("https://") || text.hasPrefix("*://") else {
                throw SourcePolicyError(
                    index: index, reason: "a pattern begins with http://, https:// or *://")
            }
            parsed.append(Self.split(text))
        }
        self.patterns = parsed
    }

    /// Whether any source is allowed: no pattern is configured.
    public var allowsEverything: Bool { patterns.isEmpty }

    /// Whether `url` may be fetched.
    public func allows(_ url: SourceURL) -> Bool {
        guard !patterns.isEmpty else { return true }
        guard !Self.hidesDotSegment(url.path) else { return false }
        let candidate = Self.split(url.normalized)
        return patterns.contains { pattern in
            Self.matches(pattern.authority[...], candidate.authority[...])
                && Self.matches(pattern.path[...], candidate.path[...])
        }
    }

    /// Whether a server that decodes `%2F` or takes a backslash for a slash would find a way up in this path.
    private static func hidesDotSegment(_ path: String) -> Bool {
        let plain = path.lowercased().replacing("%2f", with: "/").replacing("%5c", with: "/")
            .replacing("\\", with: "/")
        return plain.split(separator: "/").contains { $0 == ".." || $0 == "." }
    }

    /// Cuts after the authority: at the first `/`, `?` or `#` behind `://`; an absent path matches any.
    private static func split(_ text: String) -> Pattern {
        let bytes = Array(text.utf8)
        let slashes = bytes.indices.dropLast(2).first { bytes[$0...].starts(with: "://".utf8) } ?? 0
        let end = bytes[(slashes + 3)...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.endIndex
        let path = end == bytes.endIndex ? Array("*".utf8) : Array(bytes[end...])
        return Pattern(authority: Array(bytes[..<end]), path: path)
    }

    /// Compares with one point of return: the place behind the last `*`.
    private static func matches(_ pattern: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) -> Bool {
        let star = UInt8(ascii: "*")
        var (atPattern, atText) = (pattern.startIndex, text.startIndex)
        var resume: (pattern: Int, text: Int)?
        while atText < text.endIndex {
            if atPattern < pattern.endIndex, pattern[atPattern] == star {
                resume = (atPattern + 1, atText)
                atPattern += 1
            } else if atPattern < pattern.endIndex, pattern[atPattern] == text[atText] {
                atPattern += 1
                atText += 1
            } else if let place = resume {
                resume = (place.pattern, place.text + 1)
                (atPattern, atText) = (place.pattern, place.text + 1)
            } else {
                return false
            }
        }
        return pattern[atPattern...].allSatisfy { $0 == star }
    }
}

/// A source pattern that can't be used.
public struct SourcePolicyError: Error, Sendable, Hashable {
    /// The pattern's place in the list, from 0.
    public let index: Int
    /// What is wrong with it.
    public let reason: String
}
