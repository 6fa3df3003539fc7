// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB

/// Source records, and which of them are newer than the entries' files.
extension DiskIndex {
    private static let columns = """
        keyText, contentHash, byteCount, format, entityTag, lastModified, responseTime, initialAge,
        freshnessLifetime, directives, staleWhileRevalidate, staleIfError, reuseFields, generation
        """
    private static let generationColumn = 13

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
            sql: "SELECT \(Self.columns) FROM source WHERE low = ? AND high = ?")
        guard let row = try Row.fetchOne(statement, arguments: [key.lowBits, key.highBits]),
            var record = SourceRecord(key: key, row: row)
        else { return nil }
        let generation = UInt32.fromDatabaseValue(row[Self.generationColumn])
        if generation ?? 0 < trustedSince { record.directives.insert(.purged) }
        return record
    }

    /// Stores a record in place of an earlier one; an equal one stays.
    func save(_ record: SourceRecord, at time: Int64, _ db: Database, _ tally: inout DiskTally) throws {
        // Most sources are new: then one INSERT is enough.
        let outdatesFiles = try hasEntries(olderThan: record, db)
        guard try !insert(record, at: time, outdatesFiles: outdatesFiles, db) else {
            if outdatesFiles { outdated.insert(record.key) }
            tally.records += 1
            return
        }
        guard try self.record(for: record.key, db) != record else {
            try db.cachedStatement(sql: "UPDATE source SET savedAt = ? WHERE low = ? AND high = ?")
                .execute(arguments: [time, record.key.lowBits, record.key.highBits])
            return
        }
        try deleteRecord(record.key, db, &tally)
        outdated.insert(record.key)
        _ = try insert(record, at: time, outdatesFiles: true, db)
        tally.records += 1
    }

    /// Inserts a row for the source; false if there was one.
    private func insert(
        _ record: SourceRecord, at time: Int64, outdatesFiles: Bool, _ db: Database
    ) throws -> Bool {
        let sql = """
            INSERT INTO source (\(Self.columns), high, low, savedAt, outdatesFiles)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """
        try db.cachedStatement(sql: sql).execute(arguments: [
            record.keyText, Data(record.contentHash.bytes), record.byteCount, record.format.rawValue,
            record.entityTag, record.lastModified, record.responseTime, record.initialAge,
            record.freshnessLifetime, record.directives.rawValue, record.staleWhileRevalidate,
            record.staleIfError, record.reuseFields, generation, record.key.highBits, record.key.lowBits,
            time,
            outdatesFiles,
        ])
        return db.changesCount > 0
    }

    /// Whether files may contain an earlier record of the source.
    private func hasEntries(olderThan record: SourceRecord, _ db: Database) throws -> Bool {
        let sql = "SELECT 1 FROM entry WHERE sourceLow = ? AND sourceHigh = ? AND storedAt < ? LIMIT 1"
        return try Bool.fetchOne(
            db.cachedStatement(sql: sql),
            arguments: [record.key.lowBits, record.key.highBits, record.responseTime]) ?? false
    }

    func deleteRecord(_ key: CacheKey, _ db: Database, _ tally: inout DiskTally) throws {
        try db.cachedStatement(sql: "DELETE FROM source WHERE low = ? AND high = ?")
            .execute(arguments: [key.lowBits, key.highBits])
        tally.records -= db.changesCount
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

extension SourceRecord {
    /// Reads a row of `columns`; nil if a value has another type or form than was written.
    fileprivate init?(key: CacheKey, row: Row) {
        guard let keyText = String.fromDatabaseValue(row[0]), let hash = Data.fromDatabaseValue(row[1]),
            let contentHash = ContentHash(bytes: Array(hash)), let byteCount = Int.fromDatabaseValue(row[2]),
            let format = String.fromDatabaseValue(row[3]).flatMap(ImageFormat.init(rawValue:)),
            let responseTime = Int64.fromDatabaseValue(row[6]), let age = Int64.fromDatabaseValue(row[7]),
            let lifetime = Int64.fromDatabaseValue(row[8]), let bits = UInt32.fromDatabaseValue(row[9]),
            let reuseFields = String.fromDatabaseValue(row[12])
        else { return nil }
        let whileRevalidate = Int64.fromDatabaseValue(row[10])
        let ifError = Int64.fromDatabaseValue(row[11])
        let numbers = [Int64(byteCount), responseTime, age, lifetime, whileRevalidate ?? 0, ifError ?? 0]
        guard numbers.allSatisfy(Row.plausible.contains) else { return nil }
        self.init(
            key: key, keyText: keyText, contentHash: contentHash, byteCount: byteCount, format: format,
            entityTag: String.fromDatabaseValue(row[4]), lastModified: String.fromDatabaseValue(row[5]),
            responseTime: responseTime, initialAge: age, freshnessLifetime: lifetime,
            directives: Directives(rawValue: bits),
            staleWhileRevalidate: whileRevalidate, staleIfError: ifError, reuseFields: reuseFields)
    }
}
