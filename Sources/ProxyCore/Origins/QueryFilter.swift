// SPDX-License-Identifier: Apache-2.0

import URLs

/// Removes query parameters from the cache key (SDWebImage: cacheKeyFilter).
struct QueryFilter: Sendable {
    private let names: Set<Substring>
    private let prefixes: [Substring]

    /// Whether it removes no parameter of any URL.
    var isEmpty: Bool { names.isEmpty && prefixes.isEmpty }

    /// - Parameter patterns: names of parameters as they are spelled in URLs; a `*` at the end matches any
    ///   rest.
    init(dropping patterns: [String]) throws(OriginRuleError.Reason) {
        for pattern in patterns {
            guard !pattern.isEmpty, !pattern.dropLast().contains("*"),
                pattern.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"&=#".utf8.contains($0) })
            else {
                throw OriginRuleError.Reason(
                    "\"\(pattern)\" is no name of a parameter, with at most one * and that at its end")
            }
        }
        // In the encoding of sources' URLs.
        let patterns = patterns.map { String(decoding: URLPath.encoded(Array($0.utf8)[...]), as: UTF8.self) }
        names = Set(patterns.filter { !$0.hasSuffix("*") }.map { $0[...] })
        prefixes = patterns.filter { $0.hasSuffix("*") }.map { $0.dropLast() }
    }

    /// Returns the normalized URL without the parameters that match.
    func key(of url: SourceURL) -> String {
        guard let query = url.query else { return url.normalized }
        let kept = query.split(separator: "&", omittingEmptySubsequences: false).filter { !drops($0) }
        let base = url.normalized.dropLast(query.utf8.count + 1)
        return kept.isEmpty ? String(base) : "\(base)?\(kept.joined(separator: "&"))"
    }

    private func drops(_ parameter: Substring) -> Bool {
        let name = parameter.prefix { $0 != "=" }
        return names.contains(name) || prefixes.contains { name.hasPrefix($0) }
    }
}
