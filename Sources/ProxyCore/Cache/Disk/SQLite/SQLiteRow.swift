// SPDX-License-Identifier: Apache-2.0

import CSQLite

/// A value that is bound to a parameter of a statement.
enum SQLiteValue: ExpressibleByIntegerLiteral {
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    init(integerLiteral value: Int64) { self = .integer(value) }
    /// A number of another type.
    static func integer(_ value: Int) -> Self { .integer(Int64(value)) }
}

/// The row on which a statement stands; valid until the statement's next step.
///
/// Columns are numbered from 0. A value of another storage class than the one that is asked for is nil.
@safe struct SQLiteRow: ~Copyable {
    private let statement: OpaquePointer

    /// Wraps a statement that has a row.
    init(of statement: OpaquePointer) { unsafe self.statement = statement }

    func integer(_ column: Int32) -> Int64? {
        guard unsafe sqlite3_column_type(statement, column) == SQLITE_INTEGER else { return nil }
        return unsafe sqlite3_column_int64(statement, column)
    }

    /// A TEXT; bytes that are not UTF-8 are replaced.
    func text(_ column: Int32) -> String? {
        guard unsafe sqlite3_column_type(statement, column) == SQLITE_TEXT else { return nil }
        let bytes = unsafe UnsafeRawPointer(sqlite3_column_text(statement, column))
        let count = unsafe Int(sqlite3_column_bytes(statement, column))
        return unsafe String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    func blob(_ column: Int32) -> [UInt8]? {
        guard unsafe sqlite3_column_type(statement, column) == SQLITE_BLOB else { return nil }
        let bytes = unsafe sqlite3_column_blob(statement, column)
        let count = unsafe Int(sqlite3_column_bytes(statement, column))
        return unsafe Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }
}
