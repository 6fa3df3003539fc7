// SPDX-License-Identifier: Apache-2.0

import Freshness
import Primitives

/// What purges do to files and index, and what is removed with links of tags for which there is no space.
extension DiskWriter {
    /// Removes every entry made from a source, and its record; returns how many entries.
    func removeSource(_ key: CacheKey, _ batch: inout WriteBatch) throws(DiskCacheError) -> Int {
        forgetRecords(of: [key])
        defer { forgetRecords(of: [key]) }
        guard !storage.isOff else { return 0 }
        flush(&batch)
        // While the folder is scanned, the index does not know all files.
        try finishScan()
        // A file that should survive the purge no longer counts.
        storage.index.outdated.insert(key)
        // The original's place is known without the index.
        var count = try remove(EntryID(kind: .original, key: key), because: .purged, &batch) ? 1 : 0
        while true {
            let entries = try storage.index.entries(ofSource: key, limit: batchSize)
            for entry in entries where try remove(entry.id, row: entry.row, because: .purged, &batch) {
                count += 1
            }
            batch.changes.append { try $0.deleteRecord(key) }
            batch.isPurge = true
            try writeIndex(&batch)
            if entries.isEmpty { return count }
        }
    }

    /// Removes the results of links, and the links; `found` is called with them first. Their sources are marked stale.
    func purge(
        _ links: [TagLink], found: ([TagLink]) -> Void, _ batch: inout WriteBatch
    ) throws(DiskCacheError) -> Int {
        // Before everything else: a request from now on writes its links again, after this.
        storage.tags.remove(links)
        found(links)
        let sources = Set(links.map(\.source))
        forgetRecords(of: sources)
        defer { forgetRecords(of: sources) }
        var count = 0
        for source in sources { count += try markStale(source, &batch) }
        for link in links {
            for kind in EntryKind.results {
                let id = EntryID(kind: kind, key: link.result)
                if try remove(id, because: .purged, &batch) { count += 1 }
            }
            batch.changes.append { try $0.unlink(link) }
        }
        batch.isPurge = true
        try writeIndex(&batch)
        return count
    }

    /// Forgets records in memory, before their rows are removed or marked, and once more after that: (1) they are forgotten,
    /// (2) a look-up reads a row, and keeps it in memory, (3) the row is removed.
    func forgetRecords(of sources: some Sequence<CacheKey>) {
        for source in sources { storage.records.remove(source) }
    }

    /// Makes a source stale until its origin has confirmed it; returns how many entries are removed for that.
    ///
    /// In the transaction that removes the tag's links: a purge that is interrupted before it finds them
    /// again when it is repeated.
    private func markStale(_ source: CacheKey, _ batch: inout WriteBatch) throws(DiskCacheError) -> Int {
        guard var record = try storage.index.record(for: source) else {
            // First what was marked before: `removeSource` commits it, and would not report a failure.
            batch.isPurge = true
            try writeIndex(&batch)
            // The records in its files must not count either.
            return try removeSource(source, &batch)
        }
        record.reuse.directives.insert(.mustConfirm)
        try save(record, nil, &batch)
        return 0
    }
}
