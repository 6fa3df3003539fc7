// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension DiskCache {
    /// Remembers tags; when it returns, a purge finds them, also after a restart. One lock where they are known.
    ///
    /// Beyond `limits.maxTagLinks`, or one for 4KiB of `maxBytes`, the links seen longest ago go with their results, and the
    /// origin is asked about their sources: what a purge by their tag would no longer find is gone.
    public func link(_ links: [TagLink]) async throws(DiskCacheError) {
        let unknown = parts.tags.unknown(of: links)
        guard !unknown.isEmpty else { return }
        _ = try await writer.perform(.link(unknown))
    }

    /// Removes all results under a tag, and the links themselves.
    ///
    /// - Parameter found: called on the writing thread with the links, some at a time, before their entries are removed:
    ///   whoever voids permits there can be sure that no commit slips in behind.
    /// - Returns: how many entries were removed.
    public func removeAll(
        taggedWith tag: String, found: @escaping @Sendable ([TagLink]) -> Void
    ) async throws(DiskCacheError) -> Int {
        try await writer.perform(.removeTag(tag, found: found))
    }

    /// Whether links of tags were lost with an earlier index or folder, so that a purge by a tag may miss something.
    public var mayLackLinks: Bool { parts.isOff || parts.index.lacksLinks.load(ordering: .acquiring) }

    /// Everything that a tag hangs on; it goes on hanging there.
    func links(ofTag tag: String) async throws(DiskCacheError) -> [TagLink] {
        await settle()
        guard !parts.isOff else { return parts.tags.links(of: tag) }
        return try await readers.run { () throws(DiskCacheError) in
            let limit = self.parts.configuration.limits.batchSize
            var links: [TagLink] = []
            while true {
                let some = try self.parts.index.links(ofTag: tag, after: links.last, limit: limit)
                links += some
                guard some.count == limit else { return links }
            }
        }
    }

    /// An entry of the tier, as an operator sees it.
    public struct Listed: Sendable {
        /// The kind.
        public let kind: EntryKind
        /// The key.
        public let key: CacheKey
        /// The length of its file in bytes.
        public let bytes: Int64
        /// When it was stored, in seconds since 1970.
        public let storedAt: Int64
        /// When it was last served, in seconds since 1970; some minutes behind.
        public let accessedAt: Int64
    }

    /// Entries made from a source, at most `limit`.
    public func list(ofSource source: CacheKey, limit: Int) async throws(DiskCacheError) -> [Listed] {
        await settle()
        guard !parts.isOff else { return [] }
        let entries = try await readers.run { () throws(DiskCacheError) in
            try self.parts.index.entries(ofSource: source, limit: limit)
        }
        return entries.map { entry in
            Listed(
                kind: entry.id.kind, key: entry.id.key, bytes: entry.bytes, storedAt: entry.storedAt,
                accessedAt: entry.accessedAt)
        }
    }
}
