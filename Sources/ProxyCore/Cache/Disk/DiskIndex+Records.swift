// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB

/// Source records, and which of them are newer than the entries' files.
extension DiskIndex {
    private static let columns = """
        keyText, contentHash, byteCount, format, entityTag, lastModified, responseTime, initialAge,
        freshnessLifetime, directives, staleWhileRevalidate, staleIfError, browserLifetime, statedDate,
        status, reuseFields, finalHigh, finalLow, otherLifetime, otherBrowserLifetime, otherDirectives,
        otherStaleWhileRevalidate, otherStaleIfError, generation
        """
    private static let generationColumn = 23

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
            // Lost: which value was altered; such a row counts as none.
            var record = try? SourceRecord(key: key, row: row)
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
            VALUES (\(repeatElement("?", count: Self.generationColumn + 5).joined(separator: ", ")))
            ON CONFLICT DO NOTHING
            """
        try db.cachedStatement(sql: sql).execute(arguments: [
            record.keyText, Data(record.contentHash.bytes), record.byteCount, record.format.rawValue,
            record.entityTag, record.lastModified, record.responseTime, record.initialAge,
            record.freshnessLifetime, record.directives.rawValue, record.staleWhileRevalidate,
            record.staleIfError, record.browserLifetime, record.statedDate, record.status,
            record.reuseText, record.finalURL?.highBits, record.finalURL?.lowBits,
            record.untargeted?.lifetime, record.untargeted?.browserLifetime,
            record.untargeted?.directives.rawValue, record.untargeted?.staleWhileRevalidate,
            record.untargeted?.staleIfError, generation, record.key.highBits, record.key.lowBits, time,
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
    /// Reads a row of `columns`; throws where a value is of another type or form than was written.
    fileprivate init(key: CacheKey, row: Row) throws {
        guard let keyText = String.fromDatabaseValue(row[0]), let hash = Data.fromDatabaseValue(row[1]),
            let contentHash = ContentHash(bytes: Array(hash)),
            let format = String.fromDatabaseValue(row[3]).flatMap(ImageFormat.init(rawValue:)),
            let bits = UInt32.fromDatabaseValue(row[9]), let reuseText = String.fromDatabaseValue(row[15])
        else { throw Row.altered }
        self.init(
            key: key, keyText: keyText, contentHash: contentHash, byteCount: Int(try row.integer(at: 2)),
            format: format, entityTag: String.fromDatabaseValue(row[4]),
            lastModified: String.fromDatabaseValue(row[5]), responseTime: try row.integer(at: 6),
            initialAge: try row.integer(at: 7), freshnessLifetime: try row.integer(at: 8),
            directives: Directives(rawValue: bits), staleWhileRevalidate: try row.optionalInteger(at: 10),
            staleIfError: try row.optionalInteger(at: 11))
        browserLifetime = try row.optionalInteger(at: 12)
        statedDate = try row.optionalInteger(at: 13)
        status = Int(try row.integer(at: 14))
        self.reuseText = reuseText
        if let high = Int64.fromDatabaseValue(row[16]), let low = Int64.fromDatabaseValue(row[17]) {
            finalURL = CacheKey(highBits: high, lowBits: low)
        }
        guard let lifetime = try row.optionalInteger(at: 18) else { return }
        guard let bits = UInt32.fromDatabaseValue(row[20]) else { throw Row.altered }
        untargeted = DownstreamControl(
            lifetime: lifetime, browserLifetime: try row.optionalInteger(at: 19),
            directives: Directives(rawValue: bits), staleWhileRevalidate: try row.optionalInteger(at: 21),
            staleIfError: try row.optionalInteger(at: 22))
    }

    /// `reuseFields` in one text, a line each.
    fileprivate var reuseText: String {
        get { reuseFields.map { "\($0.name): \($0.value)" }.joined(separator: "\n") }
        set {
            reuseFields = newValue.split(separator: "\n").compactMap { line in
                guard let colon = line.firstIndex(of: ":") else { return nil }
                return HeaderField(name: String(line[..<colon]), value: String(line[colon...].dropFirst(2)))
            }
        }
    }
}
