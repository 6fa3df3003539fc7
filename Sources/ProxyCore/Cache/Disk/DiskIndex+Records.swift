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
        try reader.use { try record(for: key, $0) }
    }

    /// The same by the connection of a transaction.
    func record(for key: CacheKey, _ db: SQLiteConnection) throws -> SourceRecord? {
        let rows = try db.rows(
            "SELECT keyText, record FROM source WHERE low = ? AND high = ?", [.low(key), .high(key)]
        ) { row in row.text(0).flatMap { text in row.blob(1).map { (text, $0) } } }
        guard let (keyText, bytes) = rows.first ?? nil,
            let stored = StoredRecord(bytes[...], key: key, keyText: keyText)
        else { return nil }
        var record = stored.record
        if stored.generation < state.trustedSince { record.directives.insert(.mustConfirm) }
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

    /// Adds every source whose record outdates files to those in memory.
    func loadOutdated(_ db: SQLiteConnection) throws {
        try db.forEach("SELECT high, low FROM source WHERE outdatesFiles = 1") { row in
            outdated.insert(try row.key(at: 0))
        }
        outdated.markComplete()
    }
}
