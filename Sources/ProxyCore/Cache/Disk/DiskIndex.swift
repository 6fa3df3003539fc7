// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB

/// The index of the disk tier in SQLite: which entries there are, how old, of which source; and the source records.
///
/// The files are the truth and need no index to be read, so nothing here is on the way of a hit. One thread writes, in
/// batches; any may read. WAL, so readers see the last commit and wait for nobody; `synchronous=NORMAL`, so a commit
/// survives the process and is fsynced only by a checkpoint, or when it is asked to be durable.
final class DiskIndex: Sendable {
    /// The file's name in the folder.
    static let fileName = "index.sqlite"
    /// Readers at once: the one that loads everything at the start, and two for records.
    private static let readers = 3

    private let pool: DatabasePool
    private let ageColumn: String
    private let accessPrecision: Int64

    /// Opens the index at `path`, creates it, or brings it up to the present schema.
    /// - Throws: `index` when it is not a database, or of a later version than this daemon's.
    init(path: String, configuration: DiskCacheConfiguration) throws(DiskCacheError) {
        ageColumn = configuration.expireBy == .access ? "accessedAt" : "storedAt"
        accessPrecision = Int64(configuration.limits.accessPrecision.seconds)
        do {
            pool = try DatabasePool(path: path, configuration: Self.settings(configuration.limits))
            try Self.migrate(pool, ageColumn: ageColumn)
        } catch {
            throw Self.translate(error)
        }
    }

    private static func settings(_ limits: DiskCacheConfiguration.Limits) -> Configuration {
        var settings = Configuration()
        settings.maximumReaderCount = readers
        settings.label = "cache index"
        settings.prepareDatabase { db in
            // Has an effect only before the first table is made; deleted pages can then be given back in small steps.
            if !db.configuration.readonly { try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL") }
            try db.execute(sql: "PRAGMA journal_size_limit = \(limits.maxJournal.bytes)")
            try db.execute(sql: "PRAGMA cache_size = -2048")
        }
        return settings
    }

    /// Writes the journal back into the file and closes it.
    func close() throws(DiskCacheError) {
        try translating {
            _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
            try pool.close()
        }
    }

    // MARK: - Schema

    private static func migrate(_ pool: DatabasePool, ageColumn: String) throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { try $0.execute(sql: schema) }
        migrator.registerMigration("2") { try $0.execute(sql: staleServing) }
        migrator.registerMigration("3") { try $0.execute(sql: tags) }
        guard try !pool.read(migrator.hasBeenSuperseded) else {
            throw DiskCacheError.index("made by a later version")
        }
        try migrator.migrate(pool)
        try pool.write { try indexByAge($0, ageColumn) }
    }

    private static let schema = """
        CREATE TABLE entry (
            id INTEGER PRIMARY KEY,
            high INTEGER NOT NULL, low INTEGER NOT NULL, kind INTEGER NOT NULL,
            sourceHigh INTEGER NOT NULL, sourceLow INTEGER NOT NULL,
            bytes INTEGER NOT NULL, storedAt INTEGER NOT NULL, accessedAt INTEGER NOT NULL);
        CREATE UNIQUE INDEX entryByKey ON entry (low, high, kind);
        CREATE INDEX entryBySource ON entry (sourceLow, sourceHigh);
        CREATE TABLE source (
            id INTEGER PRIMARY KEY,
            high INTEGER NOT NULL, low INTEGER NOT NULL, keyText TEXT NOT NULL,
            contentHash BLOB NOT NULL, byteCount INTEGER NOT NULL, format TEXT NOT NULL,
            entityTag TEXT, lastModified TEXT,
            responseTime INTEGER NOT NULL, initialAge INTEGER NOT NULL, freshnessLifetime INTEGER NOT NULL,
            directives INTEGER NOT NULL, savedAt INTEGER NOT NULL);
        CREATE UNIQUE INDEX sourceByKey ON source (low, high);
        CREATE INDEX sourceByAge ON source (savedAt);
        """

    /// What the origin says of stale copies, and the fields that a 304 updates.
    ///
    /// Of older records the fields are not known: 128 (`explicitLifetime`) and the lack of validators see to it that
    /// they are fetched anew once they are stale.
    private static let staleServing = """
        ALTER TABLE source ADD COLUMN staleWhileRevalidate INTEGER;
        ALTER TABLE source ADD COLUMN staleIfError INTEGER;
        ALTER TABLE source ADD COLUMN reuseFields TEXT NOT NULL DEFAULT '';
        UPDATE source SET directives = directives | 128, entityTag = NULL, lastModified = NULL;
        """

    /// Tags outlive the entries that they hang on, which may be in memory only, and are bounded by number.
    private static let tags = """
        CREATE TABLE tag (
            name TEXT NOT NULL, high INTEGER NOT NULL, low INTEGER NOT NULL,
            sourceHigh INTEGER NOT NULL, sourceLow INTEGER NOT NULL, seenAt INTEGER NOT NULL,
            PRIMARY KEY (name, low, high)) WITHOUT ROWID;
        CREATE INDEX tagByAge ON tag (seenAt);
        """

    /// Only the column that age is counted from is worth an index; the other's goes when the setting changes.
    private static func indexByAge(_ db: Database, _ column: String) throws {
        for other in ["accessedAt", "storedAt"] where other != column {
            try db.execute(sql: "DROP INDEX IF EXISTS entryBy_\(other)")
        }
        try db.execute(sql: "CREATE INDEX IF NOT EXISTS entryBy_\(column) ON entry (\(column))")
    }

    // MARK: - Reading

    /// Reads every entry as of one moment, and how many records there are then.
    ///
    /// - Parameter begun: called as soon as that moment is fixed; changes from then on are not seen.
    func load(begun: () -> Void, each: (EntryID, Int64) -> Void) throws(DiskCacheError) -> Int {
        try translating {
            try pool.read { db in
                let records = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM source") ?? 0
                begun()
                let rows = try Row.fetchCursor(db, sql: "SELECT high, low, kind, bytes FROM entry")
                while let row = try rows.next() {
                    guard let id = EntryID(row) else { continue }
                    each(id, row[3])
                }
                return records
            }
        }
    }

    /// The oldest entries, oldest first.
    ///
    /// - Parameter time: only those older than this, in seconds since 1970; nil for all.
    func oldest(before time: Int64?, limit: Int) throws(DiskCacheError) -> [IndexEntry] {
        let condition = time == nil ? "" : "WHERE \(ageColumn) < \(time ?? 0)"
        return try entries("\(condition) ORDER BY \(ageColumn) LIMIT \(limit)")
    }

    /// Entries made from a source.
    func entries(ofSource key: CacheKey, limit: Int) throws(DiskCacheError) -> [IndexEntry] {
        let (high, low) = (Int64(bitPattern: key.high), Int64(bitPattern: key.low))
        return try entries("WHERE sourceLow = \(low) AND sourceHigh = \(high) LIMIT \(limit)")
    }

    private func entries(_ condition: String) throws(DiskCacheError) -> [IndexEntry] {
        let sql = """
            SELECT high, low, kind, sourceHigh, sourceLow, bytes, storedAt, accessedAt FROM entry \(condition)
            """
        return try translating {
            try pool.read { db in try Row.fetchAll(db, sql: sql).compactMap(IndexEntry.init) }
        }
    }

    /// A source's record; nil when there is none.
    func record(for key: CacheKey) throws(DiskCacheError) -> SourceRecord? {
        try translating {
            try pool.read { db in
                let statement = try db.cachedStatement(
                    sql: """
                        SELECT keyText, contentHash, byteCount, format, entityTag, lastModified,
                            responseTime, initialAge, freshnessLifetime, directives,
                            staleWhileRevalidate, staleIfError, reuseFields
                        FROM source WHERE low = ? AND high = ?
                        """)
                return try Row.fetchOne(statement, arguments: [key.lowBits, key.highBits])
                    .flatMap { SourceRecord(key: key, row: $0) }
            }
        }
    }

    // MARK: - Writing

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

    /// Results that a tag hangs on.
    func links(ofTag tag: String, limit: Int) throws(DiskCacheError) -> [TagLink] {
        try translating {
            try pool.read { db in
                let rows = try Row.fetchAll(
                    db, sql: "SELECT high, low, sourceHigh, sourceLow FROM tag WHERE name = ? LIMIT ?",
                    arguments: [tag, limit])
                return rows.map { row in
                    TagLink(
                        tag: tag, result: CacheKey(highBits: row[0], lowBits: row[1]),
                        source: CacheKey(highBits: row[2], lowBits: row[3]))
                }
            }
        }
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

    // MARK: - Errors

    private func translating<Value>(_ work: () throws -> Value) throws(DiskCacheError) -> Value {
        do {
            return try work()
        } catch {
            throw Self.translate(error)
        }
    }

    private static func translate(_ error: any Error) -> DiskCacheError {
        if let error = error as? DiskCacheError { return error }
        guard let error = error as? DatabaseError else { return .index("\(error)") }
        return error.resultCode == .SQLITE_FULL ? .full : .index(error.description)
    }
}

extension CacheKey {
    /// The high half as SQLite keeps it.
    fileprivate var highBits: Int64 { Int64(bitPattern: high) }
    /// The low half as SQLite keeps it.
    fileprivate var lowBits: Int64 { Int64(bitPattern: low) }

    fileprivate init(highBits: Int64, lowBits: Int64) {
        self.init(high: UInt64(bitPattern: highBits), low: UInt64(bitPattern: lowBits))
    }
}

extension EntryID {
    /// Reads the columns high, low and kind; nil for a kind that is none.
    fileprivate init?(_ row: Row) {
        guard let kind = EntryKind(rawValue: row[2]) else { return nil }
        self.init(kind: kind, key: CacheKey(highBits: row[0], lowBits: row[1]))
    }
}

extension IndexEntry {
    fileprivate init?(_ row: Row) {
        guard let id = EntryID(row) else { return nil }
        self.init(
            id: id, sourceKey: CacheKey(highBits: row[3], lowBits: row[4]), bytes: row[5], storedAt: row[6],
            accessedAt: row[7])
    }
}

extension SourceRecord {
    fileprivate init?(key: CacheKey, row: Row) {
        guard let hash = ContentHash(bytes: Array(row[1] as Data)), let format = ImageFormat(rawValue: row[3])
        else { return nil }
        self.init(
            key: key, keyText: row[0], contentHash: hash, byteCount: row[2], format: format,
            entityTag: row[4], lastModified: row[5], responseTime: row[6], initialAge: row[7],
            freshnessLifetime: row[8], directives: Directives(rawValue: row[9]),
            staleWhileRevalidate: row[10], staleIfError: row[11], reuseFields: row[12])
    }
}
