// SPDX-License-Identifier: Apache-2.0

import CSQLite
import Dispatch
import Synchronization

/// The connections to one SQLite database in WAL mode: one that writes, and some that read.
///
/// Any thread may call it. A writer waits for the one before; a reader waits for a free connection, but never
/// for a writer.
final class SQLitePool: Sendable {
    private let path: String
    private let prepare: @Sendable (SQLiteConnection) throws -> Void
    /// Nil once it is closed.
    private let writer: Mutex<SQLiteConnection?>
    /// Those that no caller uses; nil once it is closed. A missing one is opened when it is needed.
    private let idleReaders = Mutex<[SQLiteConnection]?>([])
    private let readers: DispatchSemaphore
    private let maxReaders: Int

    /// Opens a database, or creates it.
    ///
    /// - Parameters:
    ///   - readers: the maximum number of connections that read.
    ///   - prepareWriter: is called with the writing connection before WAL mode, which creates the first page.
    ///   - prepare: is called with each new connection.
    init(
        path: String, readers: Int, prepareWriter: (SQLiteConnection) throws -> Void,
        prepare: @escaping @Sendable (SQLiteConnection) throws -> Void
    ) throws {
        self.path = path
        self.prepare = prepare
        maxReaders = readers
        self.readers = DispatchSemaphore(value: readers)
        let connection = try SQLiteConnection(path: path, canWrite: true)
        try prepareWriter(connection)
        // A commit survives the end of the process; a checkpoint syncs it.
        try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        try prepare(connection)
        writer = Mutex(connection)
    }

    /// Calls `work` in a transaction on the writing connection.
    /// - Throws: `closed`, and what `work` throws; nothing is changed then.
    func write<Value>(_ work: (SQLiteConnection) throws -> Value) throws -> Value {
        try withWriter { connection in try connection.transaction(.immediate) { try work(connection) } }
    }

    /// Calls `work` on the writing connection.
    func withWriter<Value>(_ work: (SQLiteConnection) throws -> Value) throws -> Value {
        try writer.withLock { connection in
            guard let connection else { throw DiskCacheError.closed }
            return try work(connection)
        }
    }

    /// Calls `work` on a connection that reads the database as of one moment.
    func read<Value>(_ work: (SQLiteConnection) throws -> Value) throws -> Value {
        try withReader { connection in try connection.transaction(.snapshot) { try work(connection) } }
    }

    /// Calls `work` on a connection that reads; each statement has a view of its own.
    func withReader<Value>(_ work: (SQLiteConnection) throws -> Value) throws -> Value {
        readers.wait()
        defer { readers.signal() }
        let connection = try takeReader()
        defer { idleReaders.withLock { $0?.append(connection) } }
        return try work(connection)
    }

    private func takeReader() throws -> SQLiteConnection {
        let idle = try idleReaders.withLock { idle in
            guard idle != nil else { throw DiskCacheError.closed }
            return idle?.popLast()
        }
        if let idle { return idle }
        let connection = try SQLiteConnection(path: path, canWrite: false)
        try prepare(connection)
        return connection
    }

    /// Frees the pages that readers keep in memory and do not use.
    func releaseMemory() {
        idleReaders.withLock { idle in idle?.forEach { $0.releaseMemory() } }
    }

    /// Waits for the calls that have begun, and closes all connections; the last writes the log back.
    func close() {
        let idle = idleReaders.withLock { $0.take() }
        for _ in 0..<maxReaders { readers.wait() }
        idle?.forEach { $0.close() }
        for _ in 0..<maxReaders { readers.signal() }
        writer.withLock { $0.take() }?.close()
    }
}
