// SPDX-License-Identifier: Apache-2.0

import URLs

/// Replaces the prefix of a source's URL by another for the fetch (SDWebImage: requestModifier).
struct URLRewrite: Sendable {
    private let from: String
    private let to: SourceURL

    init(
        _ configuration: OriginRuleConfiguration.Rewrite, buckets: Buckets = .none
    ) throws(OriginRuleError.Reason) {
        from = try Self.prefix(configuration.from, buckets).normalized
        to = try Self.prefix(configuration.to, buckets)
    }

    /// The URL that `url` is fetched from; nil if that would be invalid. A URL without the prefix is
    /// unchanged.
    ///
    /// If only its normal form has the prefix (RFC 3986 §6.2.2), the normal form is rewritten.
    func target(of url: SourceURL) -> SourceURL? {
        guard let rest = rest(of: url) else { return url }
        // Ignored: why; the longer prefix may have made the URL too long.
        guard let target = try? SourceURL(parsing: to.normalized + rest) else { return nil }
        return isBelow(target) ? target : nil
    }

    private func rest(of url: SourceURL) -> Substring? {
        if url.normalized.hasPrefix(from) { return url.normalized.dropFirst(from.count) }
        guard url.path.utf8.contains(UInt8(ascii: "%")) else { return nil }
        let normal = String(decoding: URLPath.normal(Array(url.normalized.utf8)), as: UTF8.self)
        let prefix = String(decoding: URLPath.normal(Array(from.utf8)), as: UTF8.self)
        return normal.hasPrefix(prefix) ? normal.dropFirst(prefix.count) : nil
    }

    /// Whether a redirect may lead to `url`, because rewritten sources are there.
    func isBelow(_ url: SourceURL) -> Bool {
        url.normalized.hasPrefix(to.normalized)
    }

    /// Parses a URL whose path ends in a slash, so that it matches no host or folder that only begins with
    /// the same text.
    private static func prefix(
        _ text: String, _ buckets: Buckets
    ) throws(OriginRuleError.Reason) -> SourceURL {
        // Ignored: why it is no URL; the error says what it has to be.
        guard let url = try? SourceURL(parsing: buckets.resolved(text)), url.query == nil,
            url.path.hasSuffix("/")
        else { throw OriginRuleError.Reason("\"\(text)\" is no absolute URL that ends in a slash") }
        return url
    }
}
