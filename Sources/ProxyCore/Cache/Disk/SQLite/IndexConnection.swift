// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// One connection to the index's database, which threads use one after the other.
final class IndexConnection: Sendable {
    /// Nil while it is closed.
    private let connection = Mutex<SQLiteConnection?>(nil)

    /// Whether there is a database.
    var isOpen: Bool { connection.withLock { $0 != nil } }

    /// Begins to use a database in place of an earlier one.
    func open(_ database: SQLiteConnection) { connection.withLock { $0 = database } }

    /// Calls `work` with the connection; each statement has a view of its own.
    /// - Throws: `closed` before `open` and after `close`, what `work` throws, and what SQLite reports.
    func use<Value>(_ work: (SQLiteConnection) throws -> Value) throws(DiskCacheError) -> Value {
        do {
            return try connection.withLock { connection in
                guard let connection else { throw DiskCacheError.closed }
                return try work(connection)
            }
        } catch {
            throw error as? DiskCacheError ?? .index("\(error)")
        }
    }

    /// The same in a transaction: all of `work` is done, or nothing.
    func change<Value>(_ work: (SQLiteConnection) throws -> Value) throws(DiskCacheError) -> Value {
        try use { database in try database.transaction { try work(database) } }
    }

    /// Waits for the call that has begun, and closes the connection.
    func close() { connection.withLock { $0.take() }?.close() }
}
