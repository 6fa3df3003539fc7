// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import GRDBSQLite
import Synchronization

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

    private let current: Mutex<DatabasePool?>
    private let path: String
    private let configuration: DiskCacheConfiguration
    private let ageColumn: String
    let accessPrecision: Int64
    /// Sources whose entries' files may say something outdated of them.
    let superseded = SupersededSources()
    let currentEpoch = Atomic<UInt32>(0)
    /// How many revocations it has been told of, in transactions; and which era records have to be of to be believed.
    let revocations = Atomic<Int64>(0)
    let era = Atomic<Int64>(0)
    /// Whether links of tags were lost with an earlier index: a purge by a tag may then miss some of what it hung on.
    let lacksLinks = Atomic(false)
    /// The file system's block size: what entries take is counted in blocks.
    let blockSize = Atomic<Int64>(4_096)
    /// Whether the transaction under way revokes something.
    let isRevoking = Atomic(false)

    /// Names the time in which what files say of their sources is known to be right or superseded; never 0.
    var epoch: UInt32 { currentEpoch.load(ordering: .acquiring) }

    /// The database; another one after `reopen`.
    /// - Throws: `closed` after `detach`, until then.
    var pool: DatabasePool {
        get throws(DiskCacheError) {
            guard let pool = current.withLock({ $0 }) else { throw .closed }
            return pool
        }
    }

    /// Opens the index at `path`, creates it, or brings it up to the present schema.
    /// - Throws: `index` when it is not a database, or of a later version than this daemon's.
    init(path: String, configuration: DiskCacheConfiguration) throws(DiskCacheError) {
        ageColumn = Self.ageColumn(configuration)
        accessPrecision = Int64(configuration.limits.accessPrecision.seconds)
        self.path = path
        self.configuration = configuration
        let (pool, epoch) = try Self.open(path, configuration, ageColumn: ageColumn)
        current = Mutex(pool)
        currentEpoch.store(epoch, ordering: .releasing)
        try readRevocations()
    }

    /// An index without a database, until `reopen`.
    init(detachedFrom path: String, configuration: DiskCacheConfiguration) {
        ageColumn = Self.ageColumn(configuration)
        accessPrecision = Int64(configuration.limits.accessPrecision.seconds)
        self.path = path
        self.configuration = configuration
        current = Mutex(nil)
    }

    private static func ageColumn(_ configuration: DiskCacheConfiguration) -> String {
        configuration.expireBy == .access ? "accessedAt" : "storedAt"
    }

    private static func open(
        _ path: String, _ configuration: DiskCacheConfiguration, ageColumn: String
    ) throws(DiskCacheError) -> (DatabasePool, epoch: UInt32) {
        _ = usesOwnMemory
        do {
            let pool = try DatabasePool(path: path, configuration: settings(configuration))
            try migrate(pool, ageColumn: ageColumn)
            let epoch = try pool.write { db in
                let known = try UInt32.fetchOne(db, sql: "PRAGMA user_version") ?? 0
                return known == 0 ? try setEpoch(db) : known
            }
            return (pool, epoch)
        } catch {
            throw translate(error)
        }
    }

    /// Lets go of a database that is of no more use, and opens what now lies in its place, or a new one.
    func reopen() throws(DiskCacheError) {
        // Lost: what kept it from being closed; its file is not ours any more.
        try? pool.close()
        let (new, epoch) = try Self.open(path, configuration, ageColumn: ageColumn)
        current.withLock { $0 = new }
        currentEpoch.store(epoch, ordering: .releasing)
        try readRevocations()
    }

    /// Lets go of the database: its file is another daemon's now.
    func detach() {
        // Lost: what kept it from being closed; nobody asks it any more.
        try? pool.close()
        current.withLock { $0 = nil }
    }

    private static func settings(_ configuration: DiskCacheConfiguration) -> Configuration {
        let journalSize = configuration.journalSize
        var settings = Configuration()
        settings.maximumReaderCount = readers
        settings.label = "cache index"
        settings.prepareDatabase { db in
            // Has an effect only before the first table is made; deleted pages can then be given back in small steps.
            if !db.configuration.readonly { try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL") }
            try db.execute(sql: "PRAGMA journal_size_limit = \(journalSize)")
            let pages = min(usualCheckpoint, journalSize / pageSize)
            _ = try Row.fetchAll(db, sql: "PRAGMA wal_autocheckpoint = \(pages)")
            try db.execute(sql: "PRAGMA cache_size = -2048")
        }
        return settings
    }

    /// SQLite's own number of pages in the journal that have it write them back.
    private static let usualCheckpoint = 1_000
    /// The size of SQLite's pages in bytes.
    private static let pageSize = 4_096

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
        migrator.registerMigration("4") { try $0.execute(sql: checksums) }
        migrator.registerMigration("5") { try $0.execute(sql: entryChecksums) }
        migrator.registerMigration("6") { try $0.execute(sql: supersedingSum) }
        migrator.registerMigration("7") { try $0.execute(sql: revocationColumns) }
        migrator.registerMigration("8") { try $0.execute(sql: lostLinksColumn) }
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

    /// A record's checksum, and whether it has superseded what files of its source say (see `SupersededSources`).
    private static let checksums = """
        ALTER TABLE source ADD COLUMN checksum INTEGER;
        ALTER TABLE source ADD COLUMN isSuperseding INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX sourceSuperseding ON source (high, low) WHERE isSuperseding = 1;
        """

    /// An entry's checksum: of all but the time of its last access.
    private static let entryChecksums = "ALTER TABLE entry ADD COLUMN checksum INTEGER"

    /// What tells whether a mark of a superseding record was altered; −1, which is no sum, where there are some already.
    ///
    /// Rows of entries without a checksum could not be told from altered ones: they are made anew from the files.
    private static let supersedingSum = """
        CREATE TABLE IF NOT EXISTS seal (id INTEGER PRIMARY KEY CHECK (id = 1), superseding INTEGER NOT NULL);
        INSERT OR REPLACE INTO seal SELECT 1, -EXISTS (SELECT 1 FROM source WHERE isSuperseding = 1);
        DELETE FROM entry;
        PRAGMA application_id = 0;
        """

    /// Only the column that age is counted from is worth an index; the other's goes when the setting changes.
    private static func indexByAge(_ db: Database, _ column: String) throws {
        for other in ["accessedAt", "storedAt"] where other != column {
            try db.execute(sql: "DROP INDEX IF EXISTS entryBy_\(other)")
        }
        try db.execute(sql: "CREATE INDEX IF NOT EXISTS entryBy_\(column) ON entry (\(column))")
    }

    // MARK: - Whether all files are known

    /// Stands in the database, where SQLite keeps a number for its users, as long as it knows every file of the folder.
    private static let completeMark = 0x696D_6770

    /// Whether the folder has been looked through to its end since it last had to be.
    func knowsAllFiles() throws(DiskCacheError) -> Bool {
        try translating {
            try pool.read { try Int.fetchOne($0, sql: "PRAGMA application_id") } == Self.completeMark
        }
    }

    /// Notes whether it does, for the next start.
    func setKnowsAllFiles(_ doesKnow: Bool) throws(DiskCacheError) {
        try translating {
            try pool.write {
                try $0.execute(sql: "PRAGMA application_id = \(doesKnow ? Self.completeMark : 0)")
            }
        }
    }

    // MARK: - Reading

    /// Reads every entry as of one moment, and how many records there are then.
    ///
    /// - Parameter begun: called as soon as that moment is fixed; changes from then on are not seen.
    func load(begun: () -> Void, each: (EntryID, Int64) -> Void) throws(DiskCacheError) -> Int {
        // The pages that were read once are of no more use.
        // Lost: that there is no database any more.
        defer { (try? pool)?.releaseMemoryEventually() }
        return try translating {
            let (records, isSealed) = try pool.read { db in
                let records = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM source") ?? 0
                begun()
                let isSealed = try loadSuperseded(db)
                let rows = try Row.fetchCursor(db, sql: "SELECT \(IndexEntry.columns) FROM entry")
                while let row = try rows.next() {
                    let entry = try IndexEntry(row)
                    each(entry.id, entry.bytes)
                }
                return (records, isSealed)
            }
            if !isSealed { try sealSupersededAnew() }
            return records
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
        let sql = "SELECT \(IndexEntry.columns) FROM entry \(condition)"
        return try translating {
            try pool.read { db in try Row.fetchAll(db, sql: sql).map { try IndexEntry($0) } }
        }
    }

    // MARK: - What tells whether the marks of superseding records were altered

    /// Adds every source whose record has superseded what files say; false where a mark was altered.
    ///
    /// A page that is altered on disk may be sound SQLite; a mark that is gone would have an outdated file believed. So no
    /// file is, as long as the marks that there are do not come to their sum.
    private func loadSuperseded(_ db: Database) throws -> Bool {
        let sum = try sumOfSuperseded(db) { superseded.insert($0) }
        guard try Int64.fetchOne(db, sql: "SELECT superseding FROM seal") == sum else { return false }
        superseded.markComplete()
        return true
    }

    /// Has no file believed that there is now, and takes the marks as they are: which one was altered, nobody can tell.
    private func sealSupersededAnew() throws {
        try pool.write { db in
            try sealSuperseded(as: sumOfSuperseded(db), db)
            try beginEpoch(db)
        }
        superseded.markComplete()
    }

    func sumOfSuperseded(_ db: Database, each: (CacheKey) -> Void = { _ in }) throws -> Int64 {
        let rows = try Row.fetchCursor(db, sql: "SELECT high, low FROM source WHERE isSuperseding = 1")
        var sum: Int64 = 0
        while let row = try rows.next() {
            let source = try row.key(at: 0)
            each(source)
            sum += source.supersedingShare
        }
        return sum
    }

    func sealSuperseded(as sum: Int64, _ db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO seal (id, superseding) VALUES (1, ?)
                ON CONFLICT (id) DO UPDATE SET superseding = excluded.superseding
                """,
            arguments: [sum])
    }

    func sealSuperseded(adding share: Int64, _ db: Database) throws {
        try db.cachedStatement(sql: "UPDATE seal SET superseding = superseding + ?").execute(arguments: [
            share
        ])
    }

    // MARK: - Errors

    func translating<Value>(_ work: () throws -> Value) throws(DiskCacheError) -> Value {
        do {
            return try work()
        } catch {
            throw Self.translate(error)
        }
    }

    private static func translate(_ error: any Error) -> DiskCacheError {
        if let error = error as? DiskCacheError { return error }
        if error is RowDecodingError { return .brokenIndex("a value of the wrong type") }
        if let failure = error as? IndexStatement.Failure {
            return translate(
                DatabaseError(resultCode: ResultCode(rawValue: failure.code), message: failure.message))
        }
        guard let error = error as? DatabaseError else { return .index("\(error)") }
        switch error.resultCode {
        case .SQLITE_FULL: return .full
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: return .brokenIndex(error.description)
        // All statements are ours and fit our tables: one that does not finds a schema that was altered.
        case .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH: return .brokenIndex(error.description)
        case .SQLITE_IOERR where error.extendedResultCode == .SQLITE_IOERR_SHORT_READ:
            return .brokenIndex(error.description)
        default: return .index(error.description)
        }
    }
}

extension CacheKey {
    /// The high half as SQLite keeps it.
    var highBits: Int64 { Int64(bitPattern: high) }
    /// The low half as SQLite keeps it.
    var lowBits: Int64 { Int64(bitPattern: low) }

    /// What a superseding record's source adds to the sum of all: small enough for as many as there may be.
    var supersedingShare: Int64 {
        let bits: InlineArray<2, UInt64> = [high.littleEndian, low.littleEndian]
        return Int64(unsafe bits.span.withUnsafeBytes { unsafe Checksum.crc32c($0) })
    }

    init(highBits: Int64, lowBits: Int64) {
        self.init(high: UInt64(bitPattern: highBits), low: UInt64(bitPattern: lowBits))
    }
}
