// SPDX-License-Identifier: Apache-2.0

/// The sitemaps that are still to be read: each once, and within bounds, however they refer to each other. Pure.
struct SitemapWalk {
    private var waiting: [(url: String, depth: Int)] = []
    private var next = 0
    private var seen: Set<String> = []
    /// The host of the first one; sitemaps of other hosts are not followed. Nil for a file.
    private let host: String?
    private var depth = 0
    /// What was not followed, and why.
    private(set) var skipped: [String: Int] = [:]

    /// The maximum number of sitemaps, and how deep indexes may lie in each other.
    static let maxSitemaps = 1_000
    static let maxDepth = 3

    /// - Parameter start: the URL that is read first; nil for a file.
    init(start: String?) {
        host = start.map(PrefetchQueue.host)
        if let start {
            waiting = [(start, 0)]
            seen = [start]
        }
    }

    /// Adds a sitemap that the present one names.
    mutating func add(_ url: String) {
        guard depth < Self.maxDepth else { return skip("indexes are nested deeper than \(Self.maxDepth)") }
        guard host == nil || PrefetchQueue.host(of: url) == host else { return skip("on another host") }
        guard !seen.contains(url) else { return }
        guard seen.count < Self.maxSitemaps else { return skip("more than \(Self.maxSitemaps) sitemaps") }
        seen.insert(url)
        waiting.append((url, depth + 1))
    }

    private mutating func skip(_ reason: String) { skipped[reason, default: 0] += 1 }

    /// The next sitemap; nil when all have been read.
    mutating func takeNext() -> String? {
        guard next < waiting.count else { return nil }
        defer { next += 1 }
        depth = waiting[next].depth
        return waiting[next].url
    }
}
