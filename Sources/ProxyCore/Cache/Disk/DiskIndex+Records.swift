// SPDX-License-Identifier: Apache-2.0

import Bodies
import Freshness
import Primitives

/// Source records, and which of them are newer than the entries' files.
extension DiskIndex {
    /// A source's record; nil if there is none, or an invalid one.
    ///
    /// One of a generation that is not trusted is stale until the origin has confirmed it.
    func record(for key: CacheKey) throws(DiskCacheError) -> SourceRecord? {
        let sql = "SELECT keyText, record FROM source WHERE low = ? AND high = ?"
        let rows = try reader.use { db in
            try db.rows(sql, [.low(key), .high(key)]) { row in
                row.text(0).flatMap { text in row.blob(1).map { (text, $0) } }
            }
        }
        guard let (keyText, bytes) = rows.first ?? nil,
            let stored = StoredRecord(bytes[...], key: key, keyText: keyText)
        else { return nil }
        var record = stored.record
        if stored.generation < state.trustedSince { record.reuse.directives.insert(.mustConfirm) }
        return record
    }

    /// The sources on record by their rows' numbers, from the one after `row` on.
    func sources(
        after row: Int64, limit: Int
    ) throws(DiskCacheError) -> [(row: Int64, key: CacheKey, keyText: String)] {
        let sql = "SELECT id, high, low, keyText FROM source WHERE id > ? ORDER BY id LIMIT ?"
        return try reader.use { db in
            try db.rows(sql, [.integer(row), .integer(limit)]) { row in
                (try row.anyNumber(at: 0), try row.key(at: 1), try row.string(at: 3))
            }
        }
    }

    /// Removes the records that were saved longest ago, at most `limit`; returns how many those were.
    ///
    /// If one of them outdates files, the next process could no longer know that: so a generation begins in
    /// which no earlier file counts. This process still knows those sources.
    func deleteOldestRecords(limit: Int) throws(DiskCacheError) -> Int {
        let outdated = try writer.change { db in
            let flags = try db.rows(
                """
                DELETE FROM source WHERE id IN (SELECT id FROM source ORDER BY savedAt LIMIT ?)
                RETURNING outdatesFiles
                """,
                [.integer(limit)]
            ) { $0.integer(0) != 0 }
            if flags.contains(true) { try db.execute("UPDATE state SET generation = generation + 1") }
            return flags
        }
        if outdated.contains(true) { try readState() }
        return outdated.count
    }

    /// Adds sources whose record outdates files to those in memory, at most `limit` in the order of their keys; declares them
    /// complete after the last one.
    /// - Parameter key: what the call before has returned; nil for the first one.
    /// - Returns: the last one that was added.
    func loadOutdated(after key: CacheKey?, limit: Int) throws(DiskCacheError) -> CacheKey? {
        let sql = """
            SELECT high, low FROM source WHERE outdatesFiles = 1 AND (high, low) > (?, ?)
            ORDER BY high, low LIMIT ?
            """
        // SQLite orders no key before this one.
        let key = key ?? CacheKey(high: 1 << 63, low: 1 << 63)
        let found = try reader.use { db in
            try db.rows(sql, [.high(key), .low(key), .integer(limit)]) { try $0.key(at: 0) }
        }
        for source in found { outdated.insert(source) }
        if found.count < limit { outdated.markComplete() }
        return found.last
    }

    /// How many records there are; O(n).
    func recordCount() throws(DiskCacheError) -> Int {
        Int(try reader.use { try $0.integer("SELECT COUNT(*) FROM source") ?? 0 })
    }
}
