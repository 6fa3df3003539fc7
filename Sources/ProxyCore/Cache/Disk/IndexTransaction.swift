// SPDX-License-Identifier: Apache-2.0

import Freshness
import Primitives

/// One change of the index; many go into one transaction.
typealias IndexChange = (inout IndexTransaction) throws -> Void

/// A transaction of the index: what a change can do, and by how much all of them change the tally.
struct IndexTransaction {
    private let index: DiskIndex
    private let db: SQLiteConnection
    private(set) var tally = DiskTally()
    /// Whether the index's state has changed.
    private(set) var changesState = false

    init(_ index: DiskIndex, _ db: SQLiteConnection) { (self.index, self.db) = (index, db) }

    // MARK: - Entries

    /// An entry exists, in place of an earlier one.
    /// - Parameter isKnown: whether that is the same one.
    mutating func put(_ entry: IndexEntry, isKnown: Bool = false) throws {
        // Most are new: one statement.
        if try !insert(entry) {
            if try delete(entry.id), !isKnown { tally.replaced += 1 }
            _ = try insert(entry)
        }
        tally.add(entries: 1, bytes: index.allocated(entry.bytes), of: entry.id.kind)
    }

    /// False if the entry has a row.
    private func insert(_ entry: IndexEntry) throws -> Bool {
        try db.change(
            """
            INSERT INTO entry (high, low, kind, sourceHigh, sourceLow, bytes, storedAt, accessedAt)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """,
            [
                .high(entry.id.key), .low(entry.id.key), .kind(entry.id),
                .high(entry.sourceKey), .low(entry.sourceKey), .integer(entry.bytes),
                .integer(entry.storedAt), .integer(entry.accessedAt),
            ]) > 0
    }

    /// An entry was removed; false if it had no row.
    /// - Parameter row: the row in which the entry was read, if it was. By its number it is deleted, or SQLite reports that it
    ///   and the database's own indexes differ: by a key in which a bit has flipped nothing would be found, again and again.
    @discardableResult
    mutating func delete(_ id: EntryID, row: Int64? = nil) throws -> Bool {
        let earlier =
            if let row {
                try db.integer("DELETE FROM entry WHERE id = ? RETURNING bytes", [.integer(row)])
            } else {
                try db.integer(
                    "DELETE FROM entry WHERE low = ? AND high = ? AND kind = ? RETURNING bytes",
                    [.low(id.key), .high(id.key), .kind(id)])
            }
        if let earlier { tally.add(entries: -1, bytes: -index.allocated(earlier), of: id.kind) }
        return earlier != nil
    }

    /// An entry was served at this time.
    func recordAccess(_ id: EntryID, at time: Int64) throws {
        try db.change(
            "UPDATE entry SET accessedAt = ? WHERE low = ? AND high = ? AND kind = ? AND accessedAt < ?",
            [
                .integer(time), .low(id.key), .high(id.key), .kind(id),
                .integer(time - index.accessPrecision),
            ])
    }

    /// Everything was removed, except tags if they are kept.
    mutating func deleteEverything(keepingTags: Bool) throws {
        try db.execute("DELETE FROM entry; DELETE FROM source")
        if !keepingTags { try db.execute("DELETE FROM tag; UPDATE state SET lacksLinks = 0") }
        changesState = true
    }

    // MARK: - Source records

    /// Stores a record in place of an earlier one, as of this time; an equal one stays.
    mutating func save(_ record: SourceRecord, at time: Int64) throws {
        // Most sources are new: two statements.
        guard try !insert(record, at: time, outdatesFiles: hasEntries(olderThan: record)) else { return }
        guard try index.record(for: record.key, db) != record else {
            try db.change(
                "UPDATE source SET savedAt = ? WHERE low = ? AND high = ?",
                [.integer(time), .low(record.key), .high(record.key)])
            return
        }
        try deleteRecord(record.key)
        _ = try insert(record, at: time, outdatesFiles: true)
    }

    /// False if the source has a row.
    private mutating func insert(
        _ record: SourceRecord, at time: Int64, outdatesFiles: Bool
    ) throws -> Bool {
        let count = try db.change(
            """
            INSERT INTO source (high, low, keyText, record, savedAt, outdatesFiles)
            VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """,
            [
                .high(record.key), .low(record.key), .text(record.keyText),
                .blob(StoredRecord(record, generation: index.state.generation).encoded()), .integer(time),
                .flag(outdatesFiles),
            ])
        guard count > 0 else { return false }
        if outdatesFiles { index.outdated.insert(record.key) }
        tally.records += 1
        return true
    }

    /// Whether files may contain an earlier record of the source.
    private func hasEntries(olderThan record: SourceRecord) throws -> Bool {
        let sql = "SELECT 1 FROM entry WHERE sourceLow = ? AND sourceHigh = ? AND storedAt < ? LIMIT 1"
        return try db.integer(
            sql, [.low(record.key), .high(record.key), .integer(record.responseTime.seconds)]) != nil
    }

    /// Deletes a source's row, if there is one.
    mutating func deleteRecord(_ key: CacheKey) throws {
        tally.records -= try db.change(
            "DELETE FROM source WHERE low = ? AND high = ?", [.low(key), .high(key)])
    }

    // MARK: - Tags

    /// A tag is linked to a result, seen at this time.
    func link(_ link: TagLink, at time: Int64) throws {
        try db.change(
            """
            INSERT OR REPLACE INTO tag (name, high, low, sourceHigh, sourceLow, seenAt)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            [
                .text(link.tag), .high(link.result), .low(link.result), .high(link.source),
                .low(link.source), .integer(time),
            ])
    }

    /// A tag is no longer linked to a result.
    func unlink(_ link: TagLink) throws {
        try db.change(
            "DELETE FROM tag WHERE name = ? AND low = ? AND high = ?",
            [.text(link.tag), .low(link.result), .high(link.result)])
    }
}
