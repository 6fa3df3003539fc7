// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite

/// A statement of the index that is run for each entry: its arguments are bound one after the other, straight to SQLite.
///
/// GRDB's arguments are values of any type in an array, which costs as much again as what SQLite does with them. Used
/// within one transaction on the writer's connection, and not kept.
@safe
struct IndexStatement {
    /// What SQLite says.
    struct Failure: Error {
        let code: Int32
        let message: String
    }

    // Safe because its owner is kept beside it.
    private let raw: OpaquePointer
    private let owner: AnyObject
    private var place: Int32 = 0
    private var failure = SQLITE_OK

    /// SQLite takes a copy of what is bound.
    private static let copied = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    /// Takes a prepared statement, of which all arguments have to be bound, and keeps what owns it.
    init(_ raw: OpaquePointer, of owner: AnyObject) {
        unsafe self.raw = raw
        self.owner = owner
    }

    /// Binds the next argument.
    mutating func bind(_ number: Int64?) {
        place += 1
        guard let number else { return note(unsafe sqlite3_bind_null(raw, place)) }
        note(unsafe sqlite3_bind_int64(raw, place, number))
    }

    /// Binds the next argument.
    mutating func bind(_ text: String?) {
        place += 1
        guard var text else { return note(unsafe sqlite3_bind_null(raw, place)) }
        let place = place
        note(
            text.withUTF8 { bytes in
                unsafe bytes.withMemoryRebound(to: CChar.self) { bytes in
                    unsafe sqlite3_bind_text(
                        raw, place, bytes.baseAddress, Int32(bytes.count), Self.copied)
                }
            })
    }

    /// Binds the next argument.
    mutating func bind(_ bytes: [UInt8]) {
        place += 1
        let place = place
        note(
            unsafe bytes.withUnsafeBytes {
                unsafe sqlite3_bind_blob(raw, place, $0.baseAddress, Int32($0.count), Self.copied)
            })
    }

    /// Runs it; whether there is a row.
    func run() throws(Failure) -> Bool {
        defer {
            // What went wrong is known from the step.
            unsafe _ = sqlite3_reset(raw)
        }
        guard failure == SQLITE_OK else { throw error(failure) }
        switch unsafe sqlite3_step(raw) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw error(code)
        }
    }

    // MARK: - Steps

    private mutating func note(_ code: Int32) {
        if failure == SQLITE_OK { failure = code }
    }

    private func error(_ code: Int32) -> Failure {
        Failure(code: code, message: unsafe String(cString: sqlite3_errmsg(sqlite3_db_handle(raw))))
    }
}
