// SPDX-License-Identifier: Apache-2.0

import CSQLite

/// An error that SQLite has reported.
struct SQLiteError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The extended result code (sqlite3.h): the primary one is in its low byte.
    let code: Int32
    /// SQLite's text.
    let message: String
    /// The statement that failed; empty for the open and the close.
    let sql: String

    /// What an error says of the database.
    enum Kind {
        /// The disk is full.
        case full
        /// The file is no database, a damaged one, or one whose schema was altered: all statements fit the tables.
        case damaged
        /// Anything else, such as a failed read.
        case other
    }

    /// What it says of the database.
    var kind: Kind {
        switch code & 0xFF {
        case SQLITE_FULL: .full
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH: .damaged
        case SQLITE_IOERR where code == SHIM_IOERR_SHORT_READ: .damaged
        default: .other
        }
    }

    /// One sentence for the log.
    var description: String {
        "SQLite error \(code): \(message)" + (sql.isEmpty ? "" : " - while executing `\(sql)`")
    }
}
