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

    /// The kind of error (`SQLITE_FULL`, `SQLITE_CORRUPT`, …).
    var primaryCode: Int32 { code & 0xFF }

    /// One sentence for the log.
    var description: String {
        "SQLite error \(code): \(message)" + (sql.isEmpty ? "" : " - while executing `\(sql)`")
    }
}
