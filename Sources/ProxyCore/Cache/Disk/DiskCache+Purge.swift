// SPDX-License-Identifier: Apache-2.0

package import Primitives
import Synchronization

/// Purges: of one entry, of sources, of what carries a tag, and of everything. When a call returns, they hold, also after a kill.
extension DiskCache {
    /// Removes one entry; false if there is none.
    @discardableResult
    package func remove(_ key: CacheKey, kind: EntryKind) async throws(DiskCacheError) -> Bool {
        let id = EntryID(kind: kind, key: key)
        return try await writer.perform { (writer, batch) throws(DiskCacheError) in
            try writer.remove(id, because: .purged, &batch)
        }
    }

    /// Removes a source's original, all its results and its record.
    /// - Returns: how many entries were removed.
    @discardableResult
    package func removeAll(ofSource source: CacheKey) async throws(DiskCacheError) -> Int {
        try await writer.perform { (writer, batch) throws(DiskCacheError) in
            try writer.removeSource(source, &batch)
        }
    }

    /// Removes everything, source records included.
    /// - Parameter keepingTags: leaves the tags, because another tier holds results that carry them.
    /// - Returns: how many entries were removed.
    @discardableResult
    package func removeAll(keepingTags: Bool = false) async throws(DiskCacheError) -> Int {
        try await writer.perform { [storage] (writer, batch) throws(DiskCacheError) in
            storage.records.removeAll()
            // As `DiskWriter.forgetRecords` says.
            defer { storage.records.removeAll() }
            if !storage.isOff { writer.flush(&batch) }
            if !keepingTags { storage.tags.removeAll() }
            guard !storage.isOff else { return 0 }
            let count = max(0, storage.counters.withLock(\.tally).entries)
            // What is removed for the folder that everything is moved into is to be removed anyway.
            writer.hasTrash = true
            try storage.withSpace { () throws(DiskCacheError) in try storage.folder.discardEverything() }
            storage.entries.removeAll()
            batch.changes.append { try $0.deleteEverything(keepingTags: keepingTags) }
            batch.isPurge = true
            try writer.writeIndex(&batch)
            storage.counters.withLock { counters in
                counters.tally = DiskTally()
                counters.evicted(count, because: .purged)
            }
            return count
        }
    }

    /// Removes all results under a tag, and the links themselves.
    ///
    /// - Parameters:
    ///   - tag: the name that the results carry.
    ///   - found: called on the writing thread with the links, some at a time, before their entries are
    ///     removed: no commit under a token that is voided there comes after the removal.
    /// - Returns: how many entries were removed.
    package func removeAll(
        taggedWith tag: String, found: @escaping @Sendable ([TagLink]) -> Void
    ) async throws(DiskCacheError) -> Int {
        try await writer.perform { [storage] (writer, batch) throws(DiskCacheError) in
            guard !storage.isOff else {
                let links = storage.tags.links(of: tag)
                storage.tags.remove(links)
                found(links)
                writer.forgetRecords(of: links.map(\.source))
                return 0
            }
            writer.flush(&batch)
            var count = 0
            while true {
                let links = try storage.index.links(ofTag: tag, limit: writer.batchSize)
                guard !links.isEmpty else { return count }
                count += try writer.purge(links, found: found, &batch)
            }
        }
    }

    // MARK: - Tags

    /// Stores links of tags; when it returns, a purge finds them, also after a restart. One lock if they are
    /// known.
    ///
    /// Beyond `limits.maxTagLinks`, or one for 4KiB of `maxBytes`, the links seen longest ago are removed
    /// with their results, and their sources are revalidated: a result that a purge by its tag would no
    /// longer find is not kept.
    package func link(_ links: [TagLink]) async throws(DiskCacheError) {
        let unknown = storage.tags.unknown(of: links)
        guard !unknown.isEmpty else { return }
        try await writer.perform { [storage] (_, batch) throws(DiskCacheError) in
            if let outage = storage.outage.withLock({ $0 }) {
                // No index has them meanwhile: a result that its tag does not find must not be stored.
                guard storage.tags.insert(unknown, mayForget: false) else { throw outage }
                return
            }
            let now = storage.clock()
            for link in unknown { batch.changes.append { try $0.link(link, at: now) } }
            batch.links += unknown
        }
    }

    /// Whether links of tags may have been lost, so that a purge by a tag may miss something.
    package var mayLackLinks: Bool { storage.isOff || storage.index.state.lacksLinks }

    /// All links of a tag, which stay.
    package func links(ofTag tag: String) async throws(DiskCacheError) -> [TagLink] {
        await flush()
        guard !storage.isOff else { return storage.tags.links(of: tag) }
        return try await onIOThread { () throws(DiskCacheError) in
            try self.storage.index.links(ofTag: tag)
        }
    }

    // MARK: - By the text of sources' keys

    /// Removes the sources whose key's text is to go, with all entries made from them; returns how many entries those
    /// were.
    ///
    /// Reads all rows of sources, and the headers of the files whose source is not on record.
    package func removeAllSources(
        whereKeyText isRemoved: @escaping @Sendable (String) -> Bool
    ) async throws(DiskCacheError) -> Int {
        guard !storage.isOff else { return 0 }
        // Its rows must be all there are.
        try await writer.perform { (writer, _) throws(DiskCacheError) in
            try writer.finishScan()
        }
        var count = 0
        for findSome in [recordedSources, sourcesWithoutRecord] {
            var next: Int64? = 0
            while let row = next {
                let found = try await onIOThread { () throws(DiskCacheError) in try findSome(row) }
                next = found.last
                for source in found.sources where isRemoved(source.text) {
                    count += try await removeAll(ofSource: source.key)
                }
            }
        }
        return count
    }

    /// Some sources with their keys' texts, and the last row that was read; nil at the end.
    private typealias SomeSources = (last: Int64?, sources: [(text: String, key: CacheKey)])

    @Sendable private func recordedSources(after row: Int64) throws(DiskCacheError) -> SomeSources {
        let rows = try storage.index.sources(after: row, limit: Self.rowsAtOnce)
        return (rows.last?.row, rows.map { ($0.keyText, $0.key) })
    }

    @Sendable private func sourcesWithoutRecord(after row: Int64) throws(DiskCacheError) -> SomeSources {
        let rows = try storage.index.entries(after: row, limit: Self.rowsAtOnce)
        var sources: [(text: String, key: CacheKey)] = []
        for entry in rows where try storage.index.record(for: entry.sourceKey) == nil {
            guard let file = try storage.folder.open(entry.id, fromMemory: false),
                let header = try EntryFile(file).header()
            else { continue }
            sources.append((header.description.keyText, entry.sourceKey))
        }
        return (rows.last?.row, sources)
    }
}
