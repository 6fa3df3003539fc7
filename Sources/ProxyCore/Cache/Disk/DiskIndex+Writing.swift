// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Synchronization

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
                var revoked = revocations.load(ordering: .acquiring)
                isRevoking.store(false, ordering: .relaxed)
                try db.inTransaction(.immediate) {
                    for change in changes { try apply(change, db, &tally) }
                    if isRevoking.load(ordering: .relaxed) { revoked = try countRevocation(db) }
                    return .commit
                }
                revocations.store(revoked, ordering: .releasing)
                if changes.contains(where: \.forgetsAllTags) { lacksLinks.store(false, ordering: .releasing) }
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
        case .link(let link, let time):
            // A purge that does not find a tag revokes nothing: so one that is lost counts like a purge that is.
            isRevoking.store(true, ordering: .relaxed)
            try self.link(link, at: time, db)
        case .unlink(let link):
            isRevoking.store(true, ordering: .relaxed)
            try db.cachedStatement(sql: "DELETE FROM tag WHERE name = ? AND low = ? AND high = ?")
                .execute(arguments: [link.tag, link.result.lowBits, link.result.highBits])
        case .deleteEverything(let keepingTags):
            isRevoking.store(true, ordering: .relaxed)
            try db.execute(sql: "DELETE FROM entry; DELETE FROM source")
            if !keepingTags { try db.execute(sql: "DELETE FROM tag; UPDATE seal SET lacksLinks = 0") }
            try sealSuperseded(as: 0, db)
        }
    }

    private func put(_ entry: IndexEntry, _ db: Database, _ tally: inout DiskTally) throws {
        // Most entries are new: then the row's own index says so, and one statement is all.
        guard try !insert(entry, db) else {
            return tally.add(entries: 1, bytes: allocated(entry.bytes), of: entry.id.kind)
        }
        try replace(entry, db, &tally)
    }

    private static let insertEntry =
        "INSERT INTO entry (\(IndexEntry.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"

    /// Whether there was no row for the entry, and is one now.
    private func insert(_ entry: IndexEntry, _ db: Database) throws -> Bool {
        var statement = try IndexStatement(Self.insertEntry, db)
        statement.bind(entry.id.key.highBits)
        statement.bind(entry.id.key.lowBits)
        statement.bind(Int64(entry.id.kind.rawValue))
        statement.bind(entry.sourceKey.highBits)
        statement.bind(entry.sourceKey.lowBits)
        statement.bind(entry.bytes)
        statement.bind(entry.storedAt)
        statement.bind(entry.accessedAt)
        statement.bind(entry.rowChecksum)
        _ = try statement.run()
        return db.changesCount > 0
    }

    private func replace(_ entry: IndexEntry, _ db: Database, _ tally: inout DiskTally) throws {
        let id = entry.id
        let earlier = try db.cachedStatement(
            sql: "SELECT bytes FROM entry WHERE low = ? AND high = ? AND kind = ?")
        let bytes = try Int64.fetchOne(
            earlier, arguments: [id.key.lowBits, id.key.highBits, id.kind.rawValue])
        try db.cachedStatement(
            sql: """
                UPDATE entry SET sourceHigh = ?, sourceLow = ?, bytes = ?, storedAt = ?, accessedAt = ?, checksum = ?
                WHERE low = ? AND high = ? AND kind = ?
                """
        ).execute(arguments: [
            entry.sourceKey.highBits, entry.sourceKey.lowBits, entry.bytes, entry.storedAt, entry.accessedAt,
            entry.rowChecksum, id.key.lowBits, id.key.highBits, id.kind.rawValue,
        ])
        tally.add(entries: 0, bytes: allocated(entry.bytes) - allocated(bytes ?? 0), of: id.kind)
        tally.replaced += 1
    }

    private func delete(_ id: EntryID, _ db: Database, _ tally: inout DiskTally) throws {
        let statement = try db.cachedStatement(
            sql: "DELETE FROM entry WHERE low = ? AND high = ? AND kind = ? RETURNING bytes")
        for bytes in try Int64.fetchAll(
            statement, arguments: [id.key.lowBits, id.key.highBits, id.kind.rawValue])
        {
            tally.add(entries: -1, bytes: -allocated(bytes), of: id.kind)
        }
    }

    private func touch(_ id: EntryID, at time: Int64, _ db: Database) throws {
        try db.cachedStatement(
            sql: "UPDATE entry SET accessedAt = ? WHERE low = ? AND high = ? AND kind = ? AND accessedAt < ?"
        ).execute(arguments: [
            time, id.key.lowBits, id.key.highBits, id.kind.rawValue, time - accessPrecision,
        ])
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

    // MARK: - Space

    /// How many bytes of the disk a file of this length takes.
    func allocated(_ length: Int64) -> Int64 {
        let block = blockSize.load(ordering: .relaxed)
        return (length + block - 1) / block * block
    }

    /// How many bytes of the index's file are in use.
    func usedBytes() throws(DiskCacheError) -> Int64 {
        try translating {
            try pool.read { db in
                let pages = try Int64.fetchOne(db, sql: "PRAGMA page_count") ?? 0
                let free = try Int64.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
                return (pages - free) * (try Int64.fetchOne(db, sql: "PRAGMA page_size") ?? 0)
            }
        }
    }

    /// Gives at most `limit` unused pages back to the file system; false when there are none.
    func giveBackPages(limit: Int) throws(DiskCacheError) -> Bool {
        try translating {
            try pool.writeWithoutTransaction { db in
                guard try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0 > 0 else { return false }
                _ = try Row.fetchAll(db, sql: "PRAGMA incremental_vacuum(\(limit))")
                guard try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0 == 0 else { return true }
                // The file gets shorter when the journal is written back.
                // Lost: that a reader is active; the next checkpoint does it.
                _ = try? db.checkpoint(.passive)
                return false
            }
        }
    }
}

extension IndexStatement {
    /// Takes a statement from the connection's cache.
    fileprivate init(_ sql: String, _ db: Database) throws {
        let statement = try db.cachedStatement(sql: sql)
        unsafe self.init(statement.sqliteStatement, of: statement)
    }
}

/// Source records. Each row carries a checksum of itself: a page that is altered on disk may well be sound SQLite, and a
/// record with another picture's hash or lifetime would be believed.
extension DiskIndex {
    private static let columns = """
        keyText, contentHash, byteCount, format, entityTag, lastModified, responseTime, initialAge,
        freshnessLifetime, directives, staleWhileRevalidate, staleIfError, reuseFields, checksum, era
        """

    private static let eraColumn = 14

    /// A source's record; nil when there is none, or its row has been altered.
    func record(for key: CacheKey) throws(DiskCacheError) -> SourceRecord? {
        try translating {
            // One statement is a snapshot of its own; a transaction around it would double its price.
            try pool.unsafeRead { try record(for: key, $0) }
        }
    }

    private func record(for key: CacheKey, _ db: Database) throws -> SourceRecord? {
        let statement = try db.cachedStatement(
            sql: "SELECT \(Self.columns) FROM source WHERE low = ? AND high = ?")
        return try Row.fetchOne(statement, arguments: [key.lowBits, key.highBits])
            .flatMap { row in
                var record = SourceRecord(key: key, row: row)
                if Int64.fromDatabaseValue(row[Self.eraColumn]) != era.load(ordering: .acquiring) {
                    // What was revoked since may be lost: the origin has to be asked.
                    record?.directives.insert(.purged)
                }
                return record
            }
    }

    /// Puts a record in place of an earlier one; one that says the same stays.
    func save(_ record: SourceRecord, at time: Int64, _ db: Database, _ tally: inout DiskTally) throws {
        // Most sources are new: then the row's own index says so.
        let isSuperseding = try hasEntries(olderThan: record, db)
        guard try !insert(record, at: time, isSuperseding: isSuperseding, db) else {
            if isSuperseding { superseded.insert(record.key) }
            tally.records += 1
            return
        }
        guard try self.record(for: record.key, db) != record else {
            try db.cachedStatement(sql: "UPDATE source SET savedAt = ? WHERE low = ? AND high = ?")
                .execute(arguments: [time, record.key.lowBits, record.key.highBits])
            return
        }
        try deleteRecord(record.key, db, &tally)
        superseded.insert(record.key)
        _ = try insert(record, at: time, isSuperseding: true, db)
        tally.records += 1
    }

    private static let insertRecord = """
        INSERT INTO source (\(columns), high, low, savedAt, isSuperseding)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
        """

    /// Whether there was no row for the source, and is one now.
    private func insert(
        _ record: SourceRecord, at time: Int64, isSuperseding: Bool, _ db: Database
    ) throws -> Bool {
        var statement = try IndexStatement(Self.insertRecord, db)
        statement.bind(record.keyText)
        statement.bind(record.contentHash.bytes)
        statement.bind(Int64(record.byteCount))
        statement.bind(record.format.rawValue)
        statement.bind(record.entityTag)
        statement.bind(record.lastModified)
        statement.bind(record.responseTime)
        statement.bind(record.initialAge)
        statement.bind(record.freshnessLifetime)
        statement.bind(Int64(record.directives.rawValue))
        statement.bind(record.staleWhileRevalidate)
        statement.bind(record.staleIfError)
        statement.bind(record.reuseFields)
        statement.bind(record.rowChecksum)
        statement.bind(era.load(ordering: .acquiring))
        statement.bind(record.key.highBits)
        statement.bind(record.key.lowBits)
        statement.bind(time)
        statement.bind(isSuperseding ? 1 : 0)
        _ = try statement.run()
        guard db.changesCount > 0 else { return false }
        if isSuperseding {
            isRevoking.store(true, ordering: .relaxed)
            try sealSuperseded(adding: record.key.supersedingShare, db)
        }
        return true
    }

    /// Whether files may hold what was known of the source before.
    private func hasEntries(olderThan record: SourceRecord, _ db: Database) throws -> Bool {
        var statement = try IndexStatement(
            "SELECT 1 FROM entry WHERE sourceLow = ? AND sourceHigh = ? AND storedAt < ? LIMIT 1", db)
        statement.bind(record.key.lowBits)
        statement.bind(record.key.highBits)
        statement.bind(record.responseTime)
        return try statement.run()
    }

    func deleteRecord(_ key: CacheKey, _ db: Database, _ tally: inout DiskTally) throws {
        let statement = try db.cachedStatement(
            sql: "DELETE FROM source WHERE low = ? AND high = ? RETURNING isSuperseding")
        for isSuperseding in try Bool.fetchAll(statement, arguments: [key.lowBits, key.highBits]) {
            if isSuperseding { try sealSuperseded(adding: -key.supersedingShare, db) }
            isRevoking.store(true, ordering: .relaxed)
            tally.records -= 1
        }
    }

    /// Forgets the records that were saved longest ago, at most `limit`; how many those were.
    ///
    /// With one that superseded what files say, nobody could tell that any more: then no file is believed.
    func deleteOldestRecords(limit: Int) throws(DiskCacheError) -> Int {
        try translating {
            try pool.write { db in
                let flags = try Bool.fetchAll(
                    db,
                    sql: """
                        DELETE FROM source WHERE id IN (SELECT id FROM source ORDER BY savedAt LIMIT ?)
                        RETURNING isSuperseding
                        """,
                    arguments: [limit])
                if flags.contains(true) {
                    try sealSuperseded(as: sumOfSuperseded(db), db)
                    try beginEpoch(db)
                }
                return flags.count
            }
        }
    }
}

extension SourceRecord {
    /// The CRC32C of all that a row says, each value with its length or with a mark for none.
    fileprivate var rowChecksum: Int64 {
        var writer = LittleEndianWriter()
        writer.append(key)
        writer.append(contentsOf: contentHash.bytes)
        for number in [
            Int64(byteCount), responseTime, initialAge, freshnessLifetime, Int64(directives.rawValue),
        ] {
            writer.append(number)
        }
        for number in [staleWhileRevalidate, staleIfError] {
            writer.append(UInt8(number == nil ? 0 : 1))
            writer.append(number ?? 0)
        }
        for text in [keyText, format.rawValue, entityTag, lastModified, reuseFields] {
            writer.append(Int64(text?.utf8.count ?? -1))
            writer.append(contentsOf: (text ?? "").utf8)
        }
        return Int64(Checksum.crc32c(writer.bytes))
    }

    /// Reads a row of `columns`; nil for one that was altered. Rows of before version 4 have no checksum.
    fileprivate init?(key: CacheKey, row: Row) {
        // Types first: an altered row may hold anything anywhere.
        guard let keyText = String.fromDatabaseValue(row[0]), let hash = Data.fromDatabaseValue(row[1]),
            let contentHash = ContentHash(bytes: Array(hash)), let byteCount = Int.fromDatabaseValue(row[2]),
            let format = String.fromDatabaseValue(row[3]).flatMap(ImageFormat.init(rawValue:)),
            let responseTime = Int64.fromDatabaseValue(row[6]), let age = Int64.fromDatabaseValue(row[7]),
            let lifetime = Int64.fromDatabaseValue(row[8]), let bits = UInt32.fromDatabaseValue(row[9]),
            let reuseFields = String.fromDatabaseValue(row[12])
        else { return nil }
        self.init(
            key: key, keyText: keyText, contentHash: contentHash, byteCount: byteCount, format: format,
            entityTag: String.fromDatabaseValue(row[4]), lastModified: String.fromDatabaseValue(row[5]),
            responseTime: responseTime, initialAge: age, freshnessLifetime: lifetime,
            directives: Directives(rawValue: bits),
            staleWhileRevalidate: Int64.fromDatabaseValue(row[10]),
            staleIfError: Int64.fromDatabaseValue(row[11]), reuseFields: reuseFields)
        let checksum: DatabaseValue = row[13]
        guard checksum.isNull || Int64.fromDatabaseValue(checksum) == rowChecksum else { return nil }
        // Of before there was a bound.
        if entityTag?.utf8.count ?? 0 > FreshnessPolicy.maxEntityTagBytes { entityTag = nil }
    }
}

/// Entries as rows. Each carries a checksum of itself, as records do: a page that is altered on disk may well be sound
/// SQLite, and who believes it purges, evicts or counts what it should not. One row that does not hold condemns the index,
/// which can be made anew from the files.
extension IndexEntry {
    /// What `init` reads, in its order.
    static let columns = "high, low, kind, sourceHigh, sourceLow, bytes, storedAt, accessedAt, checksum"

    /// The CRC32C of all but the time of the last access, which changes too often to be worth it.
    var rowChecksum: Int64 {
        let words: InlineArray<7, Int64> = [
            id.key.highBits.littleEndian, id.key.lowBits.littleEndian, Int64(id.kind.rawValue).littleEndian,
            sourceKey.highBits.littleEndian, sourceKey.lowBits.littleEndian, bytes.littleEndian,
            storedAt.littleEndian,
        ]
        return Int64(unsafe words.span.withUnsafeBytes { unsafe Checksum.crc32c($0) })
    }

    /// Reads a row of `columns`.
    /// - Throws: `brokenIndex` for a row that was altered.
    init(_ row: Row) throws {
        guard let kind = EntryKind(rawValue: UInt8(truncatingIfNeeded: try row.integer(at: 2))) else {
            throw Row.altered
        }
        self.init(
            id: EntryID(kind: kind, key: try row.key(at: 0)), sourceKey: try row.key(at: 3),
            bytes: try row.integer(at: 5), storedAt: try row.integer(at: 6),
            accessedAt: try row.integer(at: 7))
        guard Int64.fromDatabaseValue(row[8]) == rowChecksum else { throw Row.altered }
    }
}

extension Row {
    static var altered: DiskCacheError { .brokenIndex("a row was altered") }

    /// A whole number, in a column that holds nothing else unless it was altered.
    func integer(at index: Int) throws -> Int64 {
        guard let number = Int64.fromDatabaseValue(self[index]) else { throw Self.altered }
        return number
    }

    /// A key, from two columns.
    func key(at index: Int) throws -> CacheKey {
        CacheKey(highBits: try integer(at: index), lowBits: try integer(at: index + 1))
    }
}
