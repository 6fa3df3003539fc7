// SPDX-License-Identifier: Apache-2.0

/// Sends fetches elsewhere than the source's URL says: one prefix in place of another (SDWebImage: requestModifier).
struct URLRewrite: Sendable {
    private let from: String
    private let to: SourceURL

    init(_ configuration: OriginRuleConfiguration.Rewrite) throws(OriginRuleError.Reason) {
        from = try Self.prefix(configuration.from).normalized
        to = try Self.prefix(configuration.to)
    }

    /// Where `url` is fetched from; nil where that would be no source URL. A URL without the prefix stays as it is.
    ///
    /// Where its normal form alone has the prefix (RFC 3986 §6.2.2), that is rewritten.
    func target(of url: SourceURL) -> SourceURL? {
        guard let rest = rest(of: url) else { return url }
        // Lost: why; the longer prefix may have made it too long.
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

    /// Whether a redirect may lead to `url`, because it is where rewritten sources are.
    func isBelow(_ url: SourceURL) -> Bool {
        url.normalized.hasPrefix(to.normalized)
    }

    /// A URL whose path ends in a slash, so that no host or folder whose name only begins alike is meant.
    private static func prefix(_ text: String) throws(OriginRuleError.Reason) -> SourceURL {
        guard let url = try? SourceURL(parsing: text), url.query == nil, url.path.hasSuffix("/") else {
            throw OriginRuleError.Reason("\"\(text)\" is no absolute URL that ends in a slash")
        }
        return url
    }
}
