// SPDX-License-Identifier: Apache-2.0

import Bodies
package import Cache
package import Freshness
import Origins
package import Primitives
import Request
package import URLs

/// What is cached of one source.
package struct SourceListing: Sendable {
    /// What is known of it; nil when nothing is.
    package var record: SourceRecord?
    /// Entries in memory, and how many bytes each has.
    package var memory: [(entry: EntryDescription, bytes: Int)]
    /// Entries on disk.
    package var disk: [IndexEntry]
    /// Whether there are more than were listed.
    package var isCut: Bool
}

/// What is stored and remembered, for operators.
extension ImagePipeline {
    /// Most entries of one tier in a listing.
    private static let maxListed = 1_000

    /// What is cached of a source (SDWebImage: containsImageForKey).
    package func listing(of url: SourceURL) async throws(DiskCacheError) -> SourceListing {
        let key = key(of: url)
        let disk = try await tiers.disk.list(ofSource: key, limit: Self.maxListed + 1)
        let memory = tiers.memory.list(ofSource: key, limit: Self.maxListed + 1)
        return SourceListing(
            record: await tiers.disk.sourceRecord(for: key) ?? memory.first?.record,
            memory: memory.prefix(Self.maxListed).map { ($0.description, $0.body.count) },
            disk: Array(disk.prefix(Self.maxListed)),
            isCut: disk.count > Self.maxListed || memory.count > Self.maxListed)
    }

    /// The key of a source, in which the rule for its URL has a say.
    package func key(of url: SourceURL) -> CacheKey {
        // Ignored: that a rule refuses it; nothing is stored then.
        ImageRequest(source: url, plan: nil, rule: try? configuration.origins.rule(for: url)).sourceKey
    }
}
