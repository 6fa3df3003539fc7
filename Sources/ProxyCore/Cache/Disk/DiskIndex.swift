// SPDX-License-Identifier: Apache-2.0

import Primitives
import Synchronization

/// The only access to SQLite: entries with their age and source; source records; tags.
///
/// Entries are found and checked without it, so a hit of a fresh picture does not read it. One thread writes,
/// in batches; any thread may read. In WAL mode a reader sees the last commit and waits for no writer; a
/// commit survives the end of the process, and is synced by a checkpoint or when a caller requires it. An
/// index that SQLite reports as damaged is set aside, and a new one is made from the files.
///
/// **Generations.** Each file and each record carries the generation in which it was written. A file's own
/// record counts only in its own generation; a record in the index counts from `trustedSince` on, and is
/// stale before. An end that may have lost something begins a generation that trusts nothing earlier.
final class DiskIndex: Sendable {
    /// The file's name in the folder.
    static let fileName = "index.sqlite"
    /// The suffixes of SQLite's files, the database first.
    private static let suffixes = ["", "-wal", "-shm"]

    /// What is known of the database.
    struct State {
        /// The file system's block size: entries are counted in blocks.
        var blockSize: Int64 = 4_096
        /// Whether `open` has created the database.
        var isNew = false
        /// The generation that files and records are written in; 0 before `open`.
        var generation: UInt32 = 0
        /// The first generation whose records count.
        var trustedSince: UInt32 = 0
        /// Whether links of tags may have been lost: a purge by a tag may then miss some results.
        var lacksLinks = false
        /// The rows of entries up to this number are in the tally and in the set of entries: `Int64.max` when all are.
        ///
        /// A new row is the last one, so it is counted at once, or when it is read.
        var countedRow: Int64 = 0
    }

    private let currentState = Mutex(State())
    /// Used by the writer's thread alone.
    let writer = Mutex<SQLiteConnection?>(nil)
    /// Reads a few rows at a time, for any thread.
    let reader = Mutex<SQLiteConnection?>(nil)
    private let path: String
    private let configuration: DiskCacheConfiguration
    let ageColumn: String
    let accessPrecision: Int64
    /// Sources with a later record than the one in their entries' files.
    let outdated = OutdatedSources()

    /// Hot path: what is known of the database.
    var state: State { currentState.withLock { $0 } }

    /// Creates an index without a database, until `open`.
    init(path: String, configuration: DiskCacheConfiguration) {
        ageColumn = configuration.expireBy == .access ? "accessedAt" : "storedAt"
        accessPrecision = Int64(configuration.limits.accessPrecision.seconds)
        self.path = path
        self.configuration = configuration
    }

    // MARK: - Opening and closing

    /// Opens the existing database, or creates one.
    /// - Throws: `brokenIndex` if it is no database, `index` if it is another version's.
    func open(blockSize: Int64) throws(DiskCacheError) {
        close()
        var isUsable = false
        defer { if !isUsable { close() } }
        let first = try connect(canWrite: true)
        writer.withLock { $0 = first }
        let isNew = try writer.change { db in
            let isEmpty = try db.integer("SELECT COUNT(*) FROM sqlite_master") == 0
            if isEmpty { try create(db) }
            guard try db.integer("PRAGMA application_id") == Self.schemaID else {
                throw DiskCacheError.index("made by another version")
            }
            try indexByAge(db)
            return isEmpty
        }
        let second = try connect(canWrite: false)
        reader.withLock { $0 = second }
        currentState.withLock { state in
            (state.blockSize, state.countedRow) = (blockSize, 0)
            if isNew { state.isNew = true }
        }
        try readState()
        isUsable = true
    }

    /// Closes the database; SQLite writes the log back into it, unless that fails: then the next start does.
    func close() {
        reader.withLock { $0 = nil }
        writer.withLock { $0 = nil }
    }

    /// Moves the index aside; one that was set aside earlier is replaced.
    func setAside(in folder: DiskFolder) throws(DiskCacheError) {
        close()
        for suffix in Self.suffixes {
            try folder.rename(Self.fileName + suffix, to: Self.fileName + ".broken" + suffix)
        }
    }

    /// Most bytes that the journal keeps between checkpoints: as configured, and at most a 16th of the tier.
    private var journalSize: Int {
        min(configuration.limits.maxJournal.bytes, max(256 << 10, configuration.maxBytes.bytes / 16))
    }

    private func connect(canWrite: Bool) throws(DiskCacheError) -> SQLiteConnection {
        let connection = try SQLiteConnection(path: path, canWrite: canWrite)
        if canWrite {
            // Unused pages are released with each commit; has an effect only before the first table is created, and so
            // before WAL mode, which creates the first page. A commit survives the end of the process; a checkpoint
            // syncs it.
            try connection.execute(
                "PRAGMA auto_vacuum = FULL; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        }
        // At most SQLite's own 1,000 pages of 4 KiB are left in the log.
        try connection.execute(
            """
            PRAGMA journal_size_limit = \(journalSize);
            PRAGMA wal_autocheckpoint = \(min(1_000, journalSize / 4_096));
            PRAGMA cache_size = -2048
            """)
        return connection
    }

    // MARK: - Schema

    /// Identifies the schema below in the database's header; an index with another one is set aside.
    private static let schemaID: Int64 = 0x696D_670D

    private static let schema = """
        PRAGMA application_id = \(schemaID);
        CREATE TABLE entry (
            id INTEGER PRIMARY KEY,
            high INTEGER NOT NULL, low INTEGER NOT NULL, kind INTEGER NOT NULL,
            sourceHigh INTEGER NOT NULL, sourceLow INTEGER NOT NULL,
            bytes INTEGER NOT NULL, storedAt INTEGER NOT NULL, accessedAt INTEGER NOT NULL);
        CREATE UNIQUE INDEX entryByKey ON entry (low, high, kind);
        CREATE INDEX entryBySource ON entry (sourceLow, sourceHigh);
        CREATE TABLE source (
            id INTEGER PRIMARY KEY,
            high INTEGER NOT NULL, low INTEGER NOT NULL, keyText TEXT NOT NULL, record BLOB NOT NULL,
            savedAt INTEGER NOT NULL, outdatesFiles INTEGER NOT NULL);
        CREATE UNIQUE INDEX sourceByKey ON source (low, high);
        CREATE INDEX sourceByAge ON source (savedAt);
        CREATE INDEX sourceOutdatingFiles ON source (high, low) WHERE outdatesFiles = 1;
        CREATE TABLE tag (
            name TEXT NOT NULL, high INTEGER NOT NULL, low INTEGER NOT NULL,
            sourceHigh INTEGER NOT NULL, sourceLow INTEGER NOT NULL, seenAt INTEGER NOT NULL,
            PRIMARY KEY (name, low, high)) WITHOUT ROWID;
        CREATE INDEX tagByAge ON tag (seenAt);
        CREATE TABLE state (
            id INTEGER PRIMARY KEY CHECK (id = 1), generation INTEGER NOT NULL, trustedSince INTEGER NOT NULL,
            lacksLinks INTEGER NOT NULL DEFAULT 1);
        """

    private func create(_ db: SQLiteConnection) throws {
        try db.execute(Self.schema)
        // At random, so that no file of an earlier index has a generation of this one.
        let generation = Int64.random(in: 1...Int64(Int32.max))
        try db.execute(
            "INSERT INTO state (id, generation, trustedSince) VALUES (1, \(generation), \(generation))")
    }

    /// Only the column that age is counted from needs an index; the other's is dropped when the setting
    /// changes.
    private func indexByAge(_ db: SQLiteConnection) throws {
        for other in ["accessedAt", "storedAt"] where other != ageColumn {
            try db.execute("DROP INDEX IF EXISTS entryBy_\(other)")
        }
        try db.execute("CREATE INDEX IF NOT EXISTS entryBy_\(ageColumn) ON entry (\(ageColumn))")
    }

    // MARK: - State

    /// Begins a generation in which the records in files of earlier ones do not count.
    func beginGeneration() throws(DiskCacheError) { try changeState("generation = generation + 1") }

    /// Records that no links of tags are lost, as there are no entries.
    func markLinksComplete() throws(DiskCacheError) { try changeState("lacksLinks = 0") }

    /// Begins a generation after an end that may have lost commits: every record is stale from now on.
    func beginUntrustedGeneration() throws(DiskCacheError) {
        try changeState("generation = generation + 1, trustedSince = generation + 1, lacksLinks = 1")
    }

    private func changeState(_ assignments: String) throws(DiskCacheError) {
        try writer.change { try $0.execute("UPDATE state SET \(assignments)") }
        try readState()
    }

    /// Reads the state from the database; called after each commit that changes it.
    func readState() throws(DiskCacheError) {
        let columns = "generation, trustedSince, lacksLinks"
        let row = try writer.use { db in
            try db.rows("SELECT \(columns) FROM state") { row in try (0..<3).map { try row.number(at: $0) } }
                .first
        }
        guard let row, let generation = UInt32(exactly: row[0]), generation > 0,
            let trusted = UInt32(exactly: row[1]), trusted <= generation
        else { throw SQLiteRow.altered }
        currentState.withLock { state in
            (state.generation, state.trustedSince, state.lacksLinks) = (generation, trusted, row[2] != 0)
        }
    }

    /// Records how many rows of entries have been read.
    func setCountedRow(_ row: Int64) { currentState.withLock { $0.countedRow = row } }

    /// How many bytes of the disk a file of this length takes.
    func allocated(_ length: Int64) -> Int64 {
        let block = state.blockSize
        return (min(max(length, 0), StoredRecord.numberRange.upperBound) + block - 1) / block * block
    }

}

extension SQLiteValue {
    /// The high half of a key, as it is stored.
    static func high(_ key: CacheKey) -> Self { .integer(Int64(bitPattern: key.high)) }
    /// The low half.
    static func low(_ key: CacheKey) -> Self { .integer(Int64(bitPattern: key.low)) }
    static func kind(_ id: EntryID) -> Self { .integer(Int64(id.kind.rawValue)) }
}

extension SQLiteRow {
    static var altered: DiskCacheError { .brokenIndex("a row was altered") }

    /// A number of bytes or seconds, in a column that contains nothing else unless it was altered.
    func number(at column: Int32) throws -> Int64 {
        let number = try anyNumber(at: column)
        guard StoredRecord.numberRange.contains(number) else { throw Self.altered }
        return number
    }

    /// A row's number.
    func anyNumber(at column: Int32) throws -> Int64 {
        guard let number = integer(column) else { throw Self.altered }
        return number
    }

    /// A key, from two columns.
    func key(at column: Int32) throws -> CacheKey {
        CacheKey(
            high: UInt64(bitPattern: try anyNumber(at: column)),
            low: UInt64(bitPattern: try anyNumber(at: column + 1)))
    }

    /// A text.
    func string(at column: Int32) throws -> String {
        guard let text = text(column) else { throw Self.altered }
        return text
    }
}
