// SPDX-License-Identifier: Apache-2.0

import Bodies
package import Freshness
package import Primitives

extension DiskCache {
    /// Changes with every record of the source that is saved or removed, before the call that does so returns.
    package func recordRevision(of key: CacheKey) -> UInt64 { storage.records.revision(of: key) }

    /// A source's record as far as it is in memory; one that has just been saved is.
    package func recentRecord(for key: CacheKey) -> SourceRecord? { storage.records.record(for: key) }

    /// Returns a source's record; nil if there is none, or it cannot be read, which is counted.
    package func sourceRecord(for key: CacheKey) async -> SourceRecord? {
        // Ignored: that too much waits; there is then none for a caller that can do without.
        try? await sourceRecord(for: key, client: nil)
    }

    /// The same for a client's request, whose origin must not be asked because too much waits here.
    /// - Parameters:
    ///   - key: the source.
    ///   - client: the client whose turn it takes.
    /// - Throws: `overloaded`.
    package func sourceRecord(
        for key: CacheKey, client: ClientID?
    ) async throws(DiskCacheError) -> SourceRecord? {
        if let record = storage.records.record(for: key) { return record }
        guard !storage.isOff else { return nil }
        let revision = storage.records.revision(of: key)
        do {
            let record = try await onIOThread(recordReads, for: client) { () throws(DiskCacheError) in
                try self.storage.index.record(for: key)
            }
            if let record { storage.records.keep(record, readAt: revision) }
            return record
        } catch {
            if error == .overloaded { throw error }
            if case .brokenIndex = error { failed(with: error) }
            return nil
        }
    }

    /// Stores a source's record in place of an earlier one; it is found at once, and on disk when this
    /// returns.
    /// - Throws: `purged`; `full`, `overloaded` and the like: it is then found until it leaves memory.
    package func save(
        _ record: SourceRecord, token: PurgeToken? = nil
    ) async throws(DiskCacheError) {
        guard storage.records.save(record, token) else { throw .purged }
        try await writer.perform { (writer, batch) throws(DiskCacheError) in
            try writer.save(record, token, &batch)
        }
    }

    // MARK: - Read-only folders

    /// The record that follows from an original, or else a result, in a read-only folder; nil if there is
    /// neither.
    ///
    /// Entries of a read-only folder have no lifetime; they are fresh until they are removed.
    package func readOnlyRecord(
        source: CacheKey, sourceText: String, result: CacheKey, resultText: String, for client: ClientID?
    ) async -> SourceRecord? {
        guard !readOnlyFolders.isEmpty else { return nil }
        for (key, kind, text) in [(source, EntryKind.original, sourceText), (result, .result, resultText)] {
            // Ignored: why it can't be read; it is counted, and the picture is fetched.
            guard mayContain(key, kind: kind),
                let hit = try? await lookUp(key, kind: kind, keyText: text, for: client), hit.isReadOnly
            else { continue }
            let found = hit.description
            return SourceRecord(
                key: source, keyText: sourceText, contentHash: found.sourceHash,
                byteCount: kind == .original ? hit.body.count : 0, format: found.format,
                responseTime: WallTime(seconds: found.storedAt), freshnessLifetime: Self.century,
                directives: [.explicitLifetime, .inReadOnlyFolder])
        }
        return nil
    }

    /// A hundred years, in seconds.
    private static let century: Int64 = 100 * 365 * 86_400
}
