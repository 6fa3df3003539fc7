// SPDX-License-Identifier: Apache-2.0

import Freshness
import Primitives

/// One change of the index; many go into one transaction.
typealias IndexChange = (inout IndexTransaction) throws -> Void

/// A transaction of the index: what a change can do, and by how much all of them change the tally.
struct IndexTransaction {
    private let index: DiskIndex
    private let db: SQLiteConnection
    /// Rows up to this number are in the tally.
    private let countedRow: Int64
    private(set) var tally = DiskTally()
    /// Whether the index's state has changed.
    private(set) var changesState = false

    init(_ index: DiskIndex, _ db: SQLiteConnection) {
        (self.index, self.db, countedRow) = (index, db, index.state.countedRow)
    }

    // MARK: - Entries

    /// An entry exists, in place of an earlier one.
    mutating func put(_ entry: IndexEntry) throws {
        // Most are new: one statement, and without RETURNING, for which SQLite makes a table.
        if try !insert(entry) {
            try delete(entry.id)
            _ = try insert(entry)
        }
        count(1, db.lastInsertedRow, entry.bytes, entry.id)
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

    /// An entry was removed, if it has a row.
    /// - Parameter row: the row in which the entry was read, if it was. By its number it is deleted, or SQLite reports that it
    ///   and the database's own indexes differ: by a key in which a bit has flipped nothing would be found, again and again.
    mutating func delete(_ id: EntryID, row: Int64? = nil) throws {
        let condition = row == nil ? "low = ? AND high = ? AND kind = ?" : "id = ?"
        let values: [SQLiteValue] =
            row.map { [.integer($0)] } ?? [.low(id.key), .high(id.key), .kind(id)]
        let deleted = try db.rows("DELETE FROM entry WHERE \(condition) RETURNING id, bytes", values) { row in
            (row.integer(0), row.integer(1) ?? 0)
        }
        if let (row, bytes) = deleted.first { count(-1, row, bytes, id) }
    }

    private mutating func count(_ entries: Int, _ row: Int64?, _ bytes: Int64, _ id: EntryID) {
        guard let row, row <= countedRow else { return }
        tally.add(entries: entries, bytes: Int64(entries) * index.allocated(bytes), of: id.kind)
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

    /// Stores a record in place of an earlier one, as of this time.
    ///
    /// It outdates the files of older entries, and of all if it differs from the earlier one in more than the generation, which
    /// are its first four bytes: a file of an earlier generation has no record that counts.
    mutating func save(_ record: SourceRecord, at time: Int64) throws {
        let bytes = StoredRecord(record, generation: index.state.generation).encoded()
        let values: [SQLiteValue] = [
            .high(record.key), .low(record.key), .text(record.keyText), .blob(bytes), .integer(time),
        ]
        let hasOlderFiles = try db.integer(
            "SELECT 1 FROM entry WHERE sourceLow = ? AND sourceHigh = ? AND storedAt < ? LIMIT 1",
            [.low(record.key), .high(record.key), .integer(record.reuse.responseTime.seconds)])
        // Most sources are new.
        let isNew = try db.change(
            """
            INSERT INTO source (high, low, keyText, record, savedAt, outdatesFiles) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """, values + [.integer(hasOlderFiles ?? 0)])
        if isNew > 0 { tally.records += 1 }
        let outdatesFiles =
            isNew > 0
            ? hasOlderFiles
            : try db.integer(
                """
                UPDATE source SET outdatesFiles = outdatesFiles OR substr(record, 5) <> substr(?4, 5),
                    keyText = ?3, record = ?4, savedAt = ?5
                WHERE low = ?2 AND high = ?1 RETURNING outdatesFiles
                """, values)
        if outdatesFiles == 1 { index.outdated.insert(record.key) }
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
