// SPDX-License-Identifier: Apache-2.0

extension DiskCache {
    /// Hot path: returns a source's record if it is in memory.
    public func sourceRecordNow(for key: CacheKey) -> SourceRecord? {
        records.record(for: key)
    }

    /// Changes with every record that is saved or forgotten, before anybody else hears of it.
    var recordGeneration: UInt64 { records.generation }

    /// Returns a source's record; nil when there is none, or it cannot be read, which is counted.
    public func sourceRecord(for key: CacheKey) async -> SourceRecord? {
        if let record = records.record(for: key) { return record }
        guard !parts.isOff else { return nil }
        let generation = records.generation
        do {
            let record = try await readers.run { () throws(DiskCacheError) in
                try self.parts.index.record(for: key)
            }
            if let record { records.keep(record, readAt: generation) }
            return record
        } catch {
            parts.counters.failedToRead()
            if case .brokenIndex = error { failed(with: error) }
            return nil
        }
    }

    /// Remembers a source's record in place of an earlier one; it is found at once, and on disk when this returns.
    /// - Throws: `purged`; `full`, `overloaded` and the like: it is then found until it leaves memory.
    public func save(
        _ record: SourceRecord, permit: PurgeLedger.Permit? = nil
    ) async throws(DiskCacheError) {
        guard records.save(record, permit) else { throw .purged }
        _ = try await writer.perform(.save(record, permit))
    }

    /// Forgets a source's record.
    public func removeRecord(of source: CacheKey) async throws(DiskCacheError) {
        records.remove(source)
        defer { records.remove(source) }
        _ = try await writer.perform(.removeRecord(source))
    }
}
