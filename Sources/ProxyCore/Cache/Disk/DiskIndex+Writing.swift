// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB

extension DiskIndex {
    /// Makes all changes or none, and returns by how much the tally changes.
    ///
    /// - Parameter durable: returns only when they are on the disk.
    func apply(_ changes: [IndexChange], durable: Bool) throws(DiskCacheError) -> DiskTally {
        try translating {
            try pool.writeWithoutTransaction { db in
                if durable { try db.execute(sql: "PRAGMA synchronous = FULL") }
                defer {
                    // Lost: nothing; the pragma can't fail, and would at worst leave commits slower.
                    if durable { try? db.execute(sql: "PRAGMA synchronous = NORMAL") }
                }
                var tally = DiskTally()
                try db.inTransaction(.immediate) {
                    for change in changes { try apply(change, db, &tally) }
                    return .commit
                }
                return tally
            }
        }
    }

    private func apply(_ change: IndexChange, _ db: Database, _ tally: inout DiskTally) throws {
        switch change {
        case .put(let entry): try put(entry, db, &tally)
        case .delete(let id): try delete(id, db, &tally)
        case .touch(let id, let time): try touch(id, at: time, db)
        case .save(let record, let time): try save(record, at: time, db, &tally)
        case .deleteRecord(let key): try deleteRecord(key, db, &tally)
        case .link(let link, let time): try self.link(link, at: time, db)
        case .unlink(let link):
            try db.cachedStatement(sql: "DELETE FROM tag WHERE name = ? AND low = ? AND high = ?")
                .execute(arguments: [link.tag, link.result.lowBits, link.result.highBits])
        case .deleteEverything:
            try db.execute(sql: "DELETE FROM entry; DELETE FROM source; DELETE FROM tag")
        }
    }

    private func put(_ entry: IndexEntry, _ db: Database, _ tally: inout DiskTally) throws {
        let id = entry.id
        let earlier = try db.cachedStatement(
            sql: "SELECT bytes FROM entry WHERE low = ? AND high = ? AND kind = ?")
        let bytes = try Int64.fetchOne(
            earlier, arguments: [id.key.lowBits, id.key.highBits, id.kind.rawValue])
        try db.cachedStatement(
            sql: """
                INSERT INTO entry (high, low, kind, sourceHigh, sourceLow, bytes, storedAt, accessedAt)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET sourceHigh = excluded.sourceHigh, sourceLow = excluded.sourceLow,
                    bytes = excluded.bytes, storedAt = excluded.storedAt, accessedAt = excluded.accessedAt
                """
        ).execute(arguments: [
            id.key.highBits, id.key.lowBits, id.kind.rawValue, entry.sourceKey.highBits,
            entry.sourceKey.lowBits, entry.bytes, entry.storedAt, entry.accessedAt,
        ])
        tally.add(entries: bytes == nil ? 1 : 0, bytes: entry.bytes - (bytes ?? 0), of: id.kind)
        tally.replaced += bytes == nil ? 0 : 1
    }

    private func delete(_ id: EntryID, _ db: Database, _ tally: inout DiskTally) throws {
        let statement = try db.cachedStatement(
            sql: "DELETE FROM entry WHERE low = ? AND high = ? AND kind = ? RETURNING bytes")
        for bytes in try Int64.fetchAll(
            statement, arguments: [id.key.lowBits, id.key.highBits, id.kind.rawValue])
        {
            tally.add(entries: -1, bytes: -bytes, of: id.kind)
        }
    }

    private func touch(_ id: EntryID, at time: Int64, _ db: Database) throws {
        try db.cachedStatement(
            sql: "UPDATE entry SET accessedAt = ? WHERE low = ? AND high = ? AND kind = ? AND accessedAt < ?"
        ).execute(arguments: [
            time, id.key.lowBits, id.key.highBits, id.kind.rawValue, time - accessPrecision,
        ])
    }

    private func save(_ record: SourceRecord, at time: Int64, _ db: Database, _ tally: inout DiskTally) throws
    {
        try deleteRecord(record.key, db, &tally)
        try db.cachedStatement(
            sql: """
                INSERT INTO source (high, low, keyText, contentHash, byteCount, format, entityTag, lastModified,
                    responseTime, initialAge, freshnessLifetime, directives, savedAt,
                    staleWhileRevalidate, staleIfError, reuseFields)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            record.key.highBits, record.key.lowBits, record.keyText, Data(record.contentHash.bytes),
            record.byteCount, record.format.rawValue, record.entityTag, record.lastModified,
            record.responseTime, record.initialAge, record.freshnessLifetime, record.directives.rawValue,
            time, record.staleWhileRevalidate, record.staleIfError, record.reuseFields,
        ])
        tally.records += 1
    }

    private func deleteRecord(_ key: CacheKey, _ db: Database, _ tally: inout DiskTally) throws {
        try db.cachedStatement(sql: "DELETE FROM source WHERE low = ? AND high = ?")
            .execute(arguments: [key.lowBits, key.highBits])
        tally.records -= db.changesCount
    }

    private func link(_ link: TagLink, at time: Int64, _ db: Database) throws {
        try db.cachedStatement(
            sql:
                "INSERT OR REPLACE INTO tag (name, high, low, sourceHigh, sourceLow, seenAt) VALUES (?, ?, ?, ?, ?, ?)"
        ).execute(arguments: [
            link.tag, link.result.highBits, link.result.lowBits, link.source.highBits, link.source.lowBits,
            time,
        ])
    }

    /// Forgets the links that were seen longest ago, beyond `most`, at most `limit`; how many those were.
    func trimLinks(to most: Int, limit: Int) throws(DiskCacheError) -> Int {
        try translating {
            try pool.write { db in
                let excess = try (Int.fetchOne(db, sql: "SELECT COUNT(*) FROM tag") ?? 0) - most
                guard excess > 0 else { return 0 }
                try db.execute(
                    sql: """
                        DELETE FROM tag WHERE (name, low, high) IN
                            (SELECT name, low, high FROM tag ORDER BY seenAt LIMIT ?)
                        """,
                    arguments: [min(excess, limit)])
                return db.changesCount
            }
        }
    }

    /// Forgets the records that were saved longest ago, at most `limit`; how many those were.
    func deleteOldestRecords(limit: Int) throws(DiskCacheError) -> Int {
        try translating {
            try pool.write { db in
                try db.execute(
                    sql: "DELETE FROM source WHERE id IN (SELECT id FROM source ORDER BY savedAt LIMIT ?)",
                    arguments: [limit])
                return db.changesCount
            }
        }
    }

    /// Gives at most `limit` unused pages back to the file system; false when there are none.
    func giveBackPages(limit: Int) throws(DiskCacheError) -> Bool {
        try translating {
            try pool.writeWithoutTransaction { db in
                guard try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0 > 0 else { return false }
                _ = try Row.fetchAll(db, sql: "PRAGMA incremental_vacuum(\(limit))")
                return true
            }
        }
    }
}
