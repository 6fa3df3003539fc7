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

    private func record(for key: CacheKey, _ db: SQLiteConnection) throws -> SourceRecord? {
        let rows = try db.rows(
            "SELECT keyText, record FROM source WHERE low = ? AND high = ?", [.low(key), .high(key)]
        ) { row in row.text(0).flatMap { text in row.blob(1).map { (text, $0) } } }
        guard let (keyText, bytes) = rows.first ?? nil,
            let stored = StoredRecord(bytes[...], key: key, keyText: keyText)
        else { return nil }
        var record = stored.record
        if stored.generation < trustedSince { record.directives.insert(.mustConfirm) }
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

    /// Whether a source is on record.
    func hasRecord(for key: CacheKey) throws(DiskCacheError) -> Bool {
        let sql = "SELECT 1 FROM source WHERE low = ? AND high = ?"
        return try reader.use { try $0.integer(sql, [.low(key), .high(key)]) } != nil
    }

    /// Stores a record in place of an earlier one; an equal one stays.
    func save(_ record: SourceRecord, at time: Int64, _ db: SQLiteConnection, _ tally: inout DiskTally) throws
    {
        guard try self.record(for: record.key, db) != record else {
            try db.change(
                "UPDATE source SET savedAt = ? WHERE low = ? AND high = ?",
                [.integer(time), .low(record.key), .high(record.key)])
            return
        }
        let outdatesFiles =
            try deleteRecord(record.key, db, &tally) || hasEntries(olderThan: record, db)
        if outdatesFiles { outdated.insert(record.key) }
        try db.change(
            """
            INSERT INTO source (high, low, keyText, record, savedAt, outdatesFiles)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            [
                .high(record.key), .low(record.key), .text(record.keyText),
                .blob(StoredRecord(record, generation: generation).encoded()), .integer(time),
                .flag(outdatesFiles),
            ])
        tally.records += 1
    }

    /// Whether files may contain an earlier record of the source.
    private func hasEntries(olderThan record: SourceRecord, _ db: SQLiteConnection) throws -> Bool {
        let sql = "SELECT 1 FROM entry WHERE sourceLow = ? AND sourceHigh = ? AND storedAt < ? LIMIT 1"
        return try db.integer(
            sql, [.low(record.key), .high(record.key), .integer(record.responseTime.seconds)]) != nil
    }

    /// Deletes a source's row; false if there is none.
    @discardableResult
    func deleteRecord(_ key: CacheKey, _ db: SQLiteConnection, _ tally: inout DiskTally) throws -> Bool {
        let count = try db.change("DELETE FROM source WHERE low = ? AND high = ?", [.low(key), .high(key)])
        tally.records -= count
        return count > 0
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
