// SPDX-License-Identifier: Apache-2.0

import Freshness
import Primitives

/// A row of the index: what listings, eviction and purging need of an entry.
package struct IndexEntry: Sendable, Equatable {
    package let id: EntryID
    /// The key of the source it was made from.
    let sourceKey: CacheKey
    /// The length of its file in bytes.
    package let bytes: Int64
    /// When it was stored, in seconds since 1970.
    package let storedAt: Int64
    /// When it was last served, in seconds since 1970; some minutes behind.
    package let accessedAt: Int64
    /// The number of its row; 0 before it has one.
    var row: Int64 = 0
}

extension DiskIndex {
    /// Makes all changes or none, and returns by how much the tally changes.
    ///
    /// - Parameter durable: returns only when they are on the disk.
    func apply(_ changes: [IndexChange], durable: Bool) throws(DiskCacheError) -> DiskTally {
        let done = try writer.use { db in
            if durable { try db.execute("PRAGMA synchronous = FULL") }
            defer {
                // Ignored: nothing; the pragma can't fail, and would at worst leave commits slower.
                if durable { try? db.execute("PRAGMA synchronous = NORMAL") }
            }
            return try db.transaction {
                var transaction = IndexTransaction(self, db)
                for change in changes { try change(&transaction) }
                return transaction
            }
        }
        if done.changesState { try readState() }
        return done.tally
    }

    // MARK: - Entries

    /// Whether an entry has a row.
    func contains(_ id: EntryID) throws(DiskCacheError) -> Bool {
        try reader.use { db in
            try db.integer(
                "SELECT 1 FROM entry WHERE low = ? AND high = ? AND kind = ?",
                [.low(id.key), .high(id.key), .kind(id)]) != nil
        }
    }

    /// The oldest entries, oldest first.
    ///
    /// - Parameter time: only those older than this, in seconds since 1970; nil for all.
    func oldest(before time: Int64?, limit: Int) throws(DiskCacheError) -> [IndexEntry] {
        let order = "ORDER BY \(ageColumn) LIMIT ?"
        guard let time else { return try entries(order, [.integer(limit)]) }
        return try entries("WHERE \(ageColumn) < ? \(order)", [.integer(time), .integer(limit)])
    }

    /// Entries made from a source.
    func entries(ofSource key: CacheKey, limit: Int) throws(DiskCacheError) -> [IndexEntry] {
        try entries(
            "WHERE sourceLow = ? AND sourceHigh = ? LIMIT ?", [.low(key), .high(key), .integer(limit)])
    }

    /// Entries by their rows' numbers, from the one after `row` on.
    func entries(after row: Int64, limit: Int) throws(DiskCacheError) -> [IndexEntry] {
        try entries("WHERE id > ? ORDER BY id LIMIT ?", [.integer(row), .integer(limit)])
    }

    private func entries(
        _ condition: String, _ arguments: [SQLiteValue]
    ) throws(DiskCacheError) -> [IndexEntry] {
        try reader.use { db in
            try db.rows("SELECT \(IndexEntry.columns) FROM entry \(condition)", arguments) {
                try IndexEntry($0)
            }
        }
    }

    // MARK: - Tags

    /// Results that carry a tag, all or at most `limit`.
    func links(ofTag tag: String, limit: Int = .max) throws(DiskCacheError) -> [TagLink] {
        try links("WHERE name = ? LIMIT ?", [.text(tag), .integer(limit)])
    }

    /// The links seen longest ago, beyond `most`, at most `limit`.
    func excessLinks(beyond most: Int, limit: Int) throws(DiskCacheError) -> [TagLink] {
        let excess = try writer.use { Int(try $0.integer("SELECT COUNT(*) FROM tag") ?? 0) } - most
        return excess > 0 ? try links("ORDER BY seenAt LIMIT ?", [.integer(min(excess, limit))]) : []
    }

    private func links(
        _ condition: String, _ arguments: [SQLiteValue]
    ) throws(DiskCacheError) -> [TagLink] {
        let sql = "SELECT name, high, low, sourceHigh, sourceLow FROM tag \(condition)"
        return try reader.use { db in
            try db.rows(sql, arguments) { row in
                TagLink(tag: try row.string(at: 0), result: try row.key(at: 1), source: try row.key(at: 3))
            }
        }
    }

    // MARK: - Space

    /// Releases the pages that reading all rows has left in memory.
    func releaseMemory() {
        // Ignored: a failure; it costs memory.
        try? reader.use { try $0.execute("PRAGMA shrink_memory") }
    }

    /// How many bytes the index's file takes; each commit releases the pages that it frees.
    func usedBytes() throws(DiskCacheError) -> Int64 {
        try writer.use { db in
            try db.integer("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size") ?? 0
        }
    }
}

extension IndexEntry {
    /// The row of a file.
    init(_ entry: DiskEntry, accessedAt: Int64) {
        self.init(
            id: entry.id, sourceKey: entry.description.sourceKey, bytes: entry.fileLength,
            storedAt: entry.description.storedAt, accessedAt: accessedAt)
    }

    /// The columns that `init` reads, in its order.
    static let columns = "high, low, kind, sourceHigh, sourceLow, bytes, storedAt, accessedAt, id"

    /// Reads a row of `columns`.
    /// - Throws: `brokenIndex` for a row that no daemon wrote.
    init(_ row: borrowing SQLiteRow) throws {
        guard let kind = EntryKind(rawValue: UInt8(truncatingIfNeeded: try row.number(at: 2))) else {
            throw SQLiteRow.altered
        }
        self.init(
            id: EntryID(kind: kind, key: try row.key(at: 0)), sourceKey: try row.key(at: 3),
            bytes: try row.number(at: 5), storedAt: try row.number(at: 6),
            accessedAt: try row.number(at: 7), row: try row.anyNumber(at: 8))
    }
}
