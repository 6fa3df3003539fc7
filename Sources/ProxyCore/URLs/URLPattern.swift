// SPDX-License-Identifier: Apache-2.0

/// A URL pattern in which `*` matches any run of characters: `scheme://host[:port]/path`.
///
/// Compared with the normalized URL; a `*` in the host part never matches a part of the path. Matching takes
/// time linear in both lengths for each `*`, without backtracking beyond the last one.
package struct URLPattern: Sendable, Hashable {
    private let parts: Parts
    /// The path in the forms of `URLPath`.
    private let normalPath: [UInt8], loosePath: [UInt8]

    /// A pattern or a URL split into its authority and its path.
    struct Parts: Sendable, Hashable {
        let authority: [UInt8]
        let path: [UInt8]
    }

    /// Why a text is not a pattern.
    package struct Invalid: Error, Sendable, Hashable {
        /// The reason, for an error message.
        package let reason: String
    }

    /// Parses a pattern; scheme and host in any case, without a default port, the path in the encoding of
    /// sources.
    package init(_ text: String) throws(Invalid) {
        let scheme = ["http://", "https://", "*://"].first { text.lowercased().hasPrefix($0) }
        guard let scheme else { throw Invalid(reason: "a pattern begins with http://, https:// or *://") }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Invalid(reason: "a pattern is printable ASCII without spaces")
        }
        guard text.utf8.count > scheme.utf8.count else { throw Invalid(reason: "a pattern names a host") }
        parts = Self.normalized(Self.split(text), scheme: scheme)
        normalPath = URLPath.normal(parts.path)
        loosePath = URLPath.loose(parts.path)
    }

    /// Whether it matches no path but `/`.
    package var isRootAlone: Bool { parts.path == [UInt8(ascii: "/")] }

    /// Whether the pattern matches a URL as it is spelt.
    ///
    /// A caller that permits something to a matching URL has to check `hidesDotSegment` first.
    package func matches(_ url: SourceURL) -> Bool {
        let candidate = Self.split(url.normalized)
        return Self.matches(parts.authority[...], candidate.authority[...])
            && Self.matches(parts.path[...], candidate.path[...])
    }

    /// Whether the pattern matches a URL, as it is spelt or in its normal form (RFC 3986 §6.2.2).
    package func matches(_ candidate: URLCandidate) -> Bool {
        guard Self.matches(parts.authority[...], candidate.spelt.authority[...]) else { return false }
        if Self.matches(parts.path[...], candidate.spelt.path[...]) { return true }
        guard let normal = candidate.normalPath else { return false }
        return Self.matches(normalPath[...], normal[...])
    }

    /// Whether a server with a lenient path syntax could interpret the URL as one that the pattern matches.
    package func couldMatch(_ candidate: URLCandidate) -> Bool {
        guard Self.matches(parts.authority[...], candidate.spelt.authority[...]) else { return false }
        return Self.matches(loosePath[...], (candidate.loosePath ?? candidate.spelt.path)[...])
    }

    private static func normalized(_ parts: Parts, scheme: String) -> Parts {
        let port = scheme == "http://" ? ":80" : scheme == "https://" ? ":443" : nil
        var authority = String(decoding: parts.authority, as: UTF8.self).lowercased()
        if let port, authority.hasSuffix(port) { authority.removeLast(port.count) }
        return Parts(authority: Array(authority.utf8), path: URLPath.encoded(parts.path[...]))
    }

    /// Whether a server that decodes `%2F` or treats a backslash as a slash would find `..` in this path.
    package static func hidesDotSegment(_ path: String) -> Bool {
        let bytes = Array(path.utf8)
        // The full stops of the current segment, and whether it contains anything else.
        var (dots, hasOther) = (0, false)
        var place = 0
        while place < bytes.count {
            let separator = separatorLength(in: bytes, at: place)
            if separator > 0 {
                if !hasOther, dots == 1 || dots == 2 { return true }
                (dots, hasOther) = (0, false)
            } else if bytes[place] == UInt8(ascii: ".") {
                dots += 1
            } else {
                hasOther = true
            }
            place += max(1, separator)
        }
        return !hasOther && (dots == 1 || dots == 2)
    }

    /// The number of bytes that form a `/` here, or a sequence that may be read as one; 0 for others.
    private static func separatorLength(in bytes: [UInt8], at place: Int) -> Int {
        switch bytes[place] {
        case UInt8(ascii: "/"), UInt8(ascii: "\\"): return 1
        case UInt8(ascii: "%") where place + 2 < bytes.count:
            let escape = (bytes[place + 1], bytes[place + 2] | 0x20)
            let isSlash = escape == (UInt8(ascii: "2"), UInt8(ascii: "f"))
            return isSlash || escape == (UInt8(ascii: "5"), UInt8(ascii: "c")) ? 3 : 0
        default: return 0
        }
    }

    /// Splits after the authority: at the first `/`, `?` or `#` after `://`; an absent path matches any.
    static func split(_ text: String) -> Parts {
        let bytes = Array(text.utf8)
        let slashes = bytes.indices.dropLast(2).first { bytes[$0...].starts(with: "://".utf8) } ?? 0
        let end = bytes[(slashes + 3)...].firstIndex(where: SourceURLSyntax.isAuthorityEnd) ?? bytes.endIndex
        let path = end == bytes.endIndex ? Array("*".utf8) : Array(bytes[end...])
        return Parts(authority: Array(bytes[..<end]), path: path)
    }

    /// Compares, with one position to return to: the one after the last `*`.
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
