// SPDX-License-Identifier: Apache-2.0

import Bodies
import Foundation
import Freshness
import GRDB
import Primitives

/// Source records, and which of them are newer than the entries' files.
extension DiskIndex {
    /// A source's record; nil if there is none, or an invalid one.
    ///
    /// One of a generation that is not trusted is stale until the origin has confirmed it.
    func record(for key: CacheKey) throws(DiskCacheError) -> SourceRecord? {
        try translating {
            // One statement is a snapshot of its own; a transaction around it would double its cost.
            try pool.unsafeRead { try record(for: key, $0) }
        }
    }

    private func record(for key: CacheKey, _ db: Database) throws -> SourceRecord? {
        let statement = try db.cachedStatement(
            sql: "SELECT keyText, record FROM source WHERE low = ? AND high = ?")
        guard let row = try Row.fetchOne(statement, arguments: [key.lowBits, key.highBits]),
            let keyText = String.fromDatabaseValue(row[0]), let bytes = Data.fromDatabaseValue(row[1]),
            let stored = StoredRecord(Array(bytes)[...], key: key, keyText: keyText)
        else { return nil }
        var record = stored.record
        if stored.generation < trustedSince { record.directives.insert(.purged) }
        return record
    }

    /// The sources on record by their rows' numbers, from the one after `row` on.
    func sources(
        after row: Int64, limit: Int
    ) throws(DiskCacheError) -> [(row: Int64, key: CacheKey, keyText: String)] {
        let sql = "SELECT id, high, low, keyText FROM source WHERE id > ? ORDER BY id LIMIT ?"
        return try translating {
            try pool.read { db in
                try Row.fetchAll(db, sql: sql, arguments: [row, limit]).map { row in
                    guard let id = Int64.fromDatabaseValue(row[0]),
                        let text = String.fromDatabaseValue(row[3])
                    else { throw Row.altered }
                    return (id, try row.key(at: 1), text)
                }
            }
        }
    }

    /// Stores a record in place of an earlier one; an equal one stays.
    func save(_ record: SourceRecord, at time: Int64, _ db: Database, _ tally: inout DiskTally) throws {
        guard try self.record(for: record.key, db) != record else {
            try db.cachedStatement(sql: "UPDATE source SET savedAt = ? WHERE low = ? AND high = ?")
                .execute(arguments: [time, record.key.lowBits, record.key.highBits])
            return
        }
        let outdatesFiles =
            try deleteRecord(record.key, db, &tally) || hasEntries(olderThan: record, db)
        if outdatesFiles { outdated.insert(record.key) }
        try db.cachedStatement(
            sql: """
                INSERT INTO source (high, low, keyText, record, savedAt, outdatesFiles)
                VALUES (?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            record.key.highBits, record.key.lowBits, record.keyText,
            Data(StoredRecord(record, generation: generation).encoded()), time, outdatesFiles,
        ])
        tally.records += 1
    }

    /// Whether files may contain an earlier record of the source.
    private func hasEntries(olderThan record: SourceRecord, _ db: Database) throws -> Bool {
        let sql = "SELECT 1 FROM entry WHERE sourceLow = ? AND sourceHigh = ? AND storedAt < ? LIMIT 1"
        return try Bool.fetchOne(
            db.cachedStatement(sql: sql),
            arguments: [record.key.lowBits, record.key.highBits, record.responseTime.seconds]) ?? false
    }

    /// Deletes a source's row; false if there is none.
    @discardableResult
    func deleteRecord(_ key: CacheKey, _ db: Database, _ tally: inout DiskTally) throws -> Bool {
        try db.cachedStatement(sql: "DELETE FROM source WHERE low = ? AND high = ?")
            .execute(arguments: [key.lowBits, key.highBits])
        let count = db.changesCount
        tally.records -= count
        return count > 0
    }

    /// Removes the records that were saved longest ago, at most `limit`; returns how many those were.
    ///
    /// If one of them outdates files, the next process could no longer know that: so a generation begins in
    /// which no earlier file counts. This process still knows those sources.
    func deleteOldestRecords(limit: Int) throws(DiskCacheError) -> Int {
        let outdated = try translating {
            try pool.write { db in
                let flags = try Bool.fetchAll(
                    db,
                    sql: """
                        DELETE FROM source WHERE id IN (SELECT id FROM source ORDER BY savedAt LIMIT ?)
                        RETURNING outdatesFiles
                        """,
                    arguments: [limit])
                if flags.contains(true) {
                    try db.execute(sql: "UPDATE state SET generation = generation + 1")
                }
                return flags
            }
        }
        if outdated.contains(true) { try readState() }
        return outdated.count
    }

    /// Adds every source whose record outdates files to those in memory.
    func loadOutdated(_ db: Database) throws {
        let rows = try Row.fetchCursor(db, sql: "SELECT high, low FROM source WHERE outdatesFiles = 1")
        while let row = try rows.next() { outdated.insert(try row.key(at: 0)) }
        outdated.markComplete()
    }
}
