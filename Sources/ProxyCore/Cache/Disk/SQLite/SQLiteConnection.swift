// SPDX-License-Identifier: Apache-2.0

import CSQLite
import Synchronization

/// A connection to a SQLite database.
///
/// Used by one thread at a time. A statement with parameters is compiled once and kept: its text is a constant
/// of the program.
// Safe because a lock lends it to one thread at a time.
@safe final class SQLiteConnection: @unchecked Sendable {
    private var database: OpaquePointer?
    private var statements: [String: OpaquePointer] = unsafe [:]

    /// Makes SQLite keep the WAL's index in the process's memory instead of a mapped file: a mapped file that
    /// is truncated ends the process by SIGBUS, and a full disk has no space for one. Locks are then held
    /// while the database is open, which fits: the folder has one daemon.
    private static let usesOwnMemory: Bool = {
        let system = unsafe sqlite3_vfs_find("unix-excl")
        return unsafe system != nil && sqlite3_vfs_register(system, 1) == SQLITE_OK
    }()

    /// Opens a database, and creates one if `canWrite` is set and the file is missing or empty.
    init(path: String, canWrite: Bool) throws(DiskCacheError) {
        _ = Self.usesOwnMemory
        let access = canWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY
        // Without SQLite's own lock: see above.
        let code = unsafe sqlite3_open_v2(path, &database, access | SQLITE_OPEN_NOMUTEX, nil)
        // The end of the object releases the memory of a failed open as well.
        guard code == SQLITE_OK else { throw error(code, sql: "") }
        _ = unsafe sqlite3_extended_result_codes(database, 1)
    }

    deinit { close() }

    /// Closes the connection; no other call may follow.
    func close() {
        unsafe statements.values.forEach { _ = unsafe sqlite3_finalize($0) }
        unsafe statements = [:]
        _ = unsafe sqlite3_close_v2(database)
        unsafe database = nil
    }

    // MARK: - Statements

    /// Executes statements without parameters; rows are dropped.
    func execute(_ sql: String) throws(DiskCacheError) {
        let code = unsafe sqlite3_exec(database, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code, sql: sql) }
    }

    /// Executes a statement, and returns how many rows it has changed.
    @discardableResult
    func change(_ sql: String, _ arguments: [SQLiteValue] = []) throws -> Int {
        try forEach(sql, arguments) { _ in }
        return unsafe Int(sqlite3_changes(database))
    }

    /// The number of the row that was inserted last.
    var lastInsertedRow: Int64 { unsafe sqlite3_last_insert_rowid(database) }

    /// Reads all rows of a statement.
    func rows<Value>(
        _ sql: String, _ arguments: [SQLiteValue] = [], _ read: (borrowing SQLiteRow) throws -> Value
    ) throws -> [Value] {
        var values: [Value] = []
        try forEach(sql, arguments) { values.append(try read($0)) }
        return values
    }

    /// Reads the first column of the first row; nil if there is no row, or no INTEGER.
    func integer(_ sql: String, _ arguments: [SQLiteValue] = []) throws -> Int64? {
        try rows(sql, arguments) { $0.integer(0) }.first ?? nil
    }

    /// Calls `body` with each row of a statement.
    func forEach(
        _ sql: String, _ arguments: [SQLiteValue] = [], _ body: (borrowing SQLiteRow) throws -> Void
    ) throws {
        let statement = unsafe try compiled(sql)
        defer {
            // Its error is the one that the last step has returned.
            _ = unsafe sqlite3_reset(statement)
            _ = unsafe sqlite3_clear_bindings(statement)
        }
        for (index, value) in arguments.enumerated() {
            unsafe try bind(value, to: Int32(index + 1), of: statement, sql)
        }
        while true {
            switch unsafe sqlite3_step(statement) {
            case SQLITE_ROW: unsafe try body(SQLiteRow(of: statement))
            case SQLITE_DONE: return
            case let code: throw error(code, sql: sql)
            }
        }
    }

    private func compiled(_ sql: String) throws(DiskCacheError) -> OpaquePointer {
        if let statement = unsafe statements[sql] { return unsafe statement }
        var statement: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(
            database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement = unsafe statement else { throw error(code, sql: sql) }
        unsafe statements[sql] = statement
        return unsafe statement
    }

    private func bind(
        _ value: SQLiteValue, to index: Int32, of statement: OpaquePointer, _ sql: String
    ) throws(DiskCacheError) {
        let code: Int32
        switch value {
        case .integer(let number): code = unsafe sqlite3_bind_int64(statement, index, number)
        case .text(var text):
            code = text.withUTF8 { bytes in
                unsafe shim_bind_text(statement, index, bytes.baseAddress, Int32(clamping: bytes.count))
            }
        case .blob(let bytes):
            code = unsafe bytes.withUnsafeBytes { bytes in
                unsafe shim_bind_blob(statement, index, bytes.baseAddress, Int32(clamping: bytes.count))
            }
        }
        guard code == SQLITE_OK else { throw error(code, sql: sql) }
    }

    /// What a result code (sqlite3.h, extended: the primary one is in its low byte) says of the database.
    private func error(_ code: Int32, sql: String) -> DiskCacheError {
        // The text of a connection that could not even be allocated is that of the code.
        let message = unsafe database == nil ? sqlite3_errstr(code) : sqlite3_errmsg(database)
        let text =
            "SQLite error \(code): \(unsafe message.map { unsafe String(cString: $0) } ?? "")"
            + (sql.isEmpty ? "" : " - while executing `\(sql)`")
        switch code & 0xFF {
        case SQLITE_FULL: return .full
        // No database, a damaged one, or one whose schema was altered: all statements fit the tables.
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH:
            return .brokenIndex(text)
        case SQLITE_IOERR where code == SHIM_IOERR_SHORT_READ: return .brokenIndex(text)
        default: return .index(text)
        }
    }

    /// Does all of `work` or nothing.
    func transaction<Value>(_ work: () throws -> Value) throws -> Value {
        try execute("BEGIN IMMEDIATE")
        do {
            let value = try work()
            try execute("COMMIT")
            return value
        } catch {
            // Ignored: that there is nothing to undo, since SQLite has done so itself.
            if unsafe sqlite3_get_autocommit(database) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }
}

/// A connection that threads use one after the other; nil while the index is closed.
extension Mutex where Value == SQLiteConnection? {
    /// Calls `work` with the connection; each statement has a view of its own.
    /// - Throws: `closed`, what `work` throws, and what SQLite reports.
    func use<Result>(_ work: (SQLiteConnection) throws -> Result) throws(DiskCacheError) -> Result {
        do {
            return try withLock { connection in
                guard let connection else { throw DiskCacheError.closed }
                return try work(connection)
            }
        } catch {
            throw error as? DiskCacheError ?? .index("\(error)")
        }
    }

    /// The same in a transaction: all of `work` is done, or nothing.
    func change<Result>(_ work: (SQLiteConnection) throws -> Result) throws(DiskCacheError) -> Result {
        try use { database in try database.transaction { try work(database) } }
    }
}
