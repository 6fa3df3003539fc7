// SPDX-License-Identifier: Apache-2.0

import Freshness
import GRDB
import Primitives
import Synchronization

/// A row of the index: what listings, eviction and purging need of an entry.
package struct IndexEntry: Sendable, Equatable {
    /// The entry.
    package let id: EntryID
    /// The key of the source it was made from.
    let sourceKey: CacheKey
    /// The length of its file in bytes.
    package let bytes: Int64
    /// When it was stored, in seconds since 1970.
    package let storedAt: Int64
    /// When it was last served, in seconds since 1970; some minutes behind.
    package let accessedAt: Int64
}

/// One change of the index; many go into one transaction.
enum IndexChange: Sendable {
    /// An entry exists, in place of an earlier one.
    case put(IndexEntry)
    /// An entry was removed.
    case delete(EntryID)
    /// An entry was served at this time.
    case recordAccess(EntryID, at: Int64)
    /// A source's record, in place of an earlier one, saved at this time.
    case save(SourceRecord, at: Int64)
    /// A source's record was removed.
    case deleteRecord(CacheKey)
    /// A tag is linked to a result, seen at this time.
    case link(TagLink, at: Int64)
    /// A tag is no longer linked to a result.
    case unlink(TagLink)
    /// Everything was removed, except tags if they are kept.
    case deleteEverything(keepingTags: Bool)
}

extension DiskIndex {
    /// Makes all changes or none, and returns by how much the tally changes.
    ///
    /// - Parameter durable: returns only when they are on the disk.
    func apply(_ changes: [IndexChange], durable: Bool) throws(DiskCacheError) -> DiskTally {
        var tally = DiskTally()
        var changesState = false
        try translating {
            try pool.writeWithoutTransaction { db in
                if durable { try db.execute(sql: "PRAGMA synchronous = FULL") }
                defer {
                    // Lost: nothing; the pragma can't fail, and would at worst leave commits slower.
                    if durable { try? db.execute(sql: "PRAGMA synchronous = NORMAL") }
                }
                try db.inTransaction(.immediate) {
                    for change in changes {
                        if case .deleteEverything = change { changesState = true }
                        try apply(change, db, &tally)
                    }
                    return .commit
                }
            }
        }
        if changesState { try readState() }
        return tally
    }

    private func apply(_ change: IndexChange, _ db: Database, _ tally: inout DiskTally) throws {
        switch change {
        case .put(let entry): try put(entry, db, &tally)
        case .delete(let id): try delete(id, db, &tally)
        case .recordAccess(let id, let time): try recordAccess(id, at: time, db)
        case .save(let record, let time): try save(record, at: time, db, &tally)
        case .deleteRecord(let key): try deleteRecord(key, db, &tally)
        case .link(let link, let time): try self.link(link, at: time, db)
        case .unlink(let link):
            try db.cachedStatement(sql: "DELETE FROM tag WHERE name = ? AND low = ? AND high = ?")
                .execute(arguments: [link.tag, link.result.lowBits, link.result.highBits])
        case .deleteEverything(let keepingTags):
            try db.execute(sql: "DELETE FROM entry; DELETE FROM source")
            if !keepingTags { try db.execute(sql: "DELETE FROM tag; UPDATE state SET lacksLinks = 0") }
        }
    }

    // MARK: - Entries

    /// Reads every entry as of one moment, and how many records there are then.
    ///
    /// - Parameter begun: called as soon as that moment is fixed; changes from then on are not seen.
    func load(begun: () -> Void, each: (EntryID, Int64) -> Void) throws(DiskCacheError) -> Int {
        // Lost: that the database is closed. Pages that were read once are not needed again.
        defer { (try? pool)?.releaseMemoryEventually() }
        return try translating {
            try pool.read { db in
                let records = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM source") ?? 0
                begun()
                try loadOutdated(db)
                let rows = try Row.fetchCursor(db, sql: "SELECT \(IndexEntry.columns) FROM entry")
                while let row = try rows.next() {
                    let entry = try IndexEntry(row)
                    each(entry.id, entry.bytes)
                }
                return records
            }
        }
    }

    /// The oldest entries, oldest first.
    ///
    /// - Parameter time: only those older than this, in seconds since 1970; nil for all.
    func oldest(before time: Int64?, limit: Int) throws(DiskCacheError) -> [IndexEntry] {
        let condition = time.map { "WHERE \(ageColumn) < \($0)" } ?? ""
        return try entries("\(condition) ORDER BY \(ageColumn) LIMIT \(limit)")
    }

    /// Entries made from a source.
    func entries(ofSource key: CacheKey, limit: Int) throws(DiskCacheError) -> [IndexEntry] {
        try entries("WHERE sourceLow = \(key.lowBits) AND sourceHigh = \(key.highBits) LIMIT \(limit)")
    }

    /// Entries by their rows' numbers, from the one after `row` on.
    func entries(
        after row: Int64, limit: Int
    ) throws(DiskCacheError) -> [(row: Int64, entry: IndexEntry)] {
        try numberedEntries("WHERE id > ? ORDER BY id LIMIT ?", [row, limit])
    }

    /// The same of those whose source is not on record.
    func entriesWithoutRecord(
        after row: Int64, limit: Int
    ) throws(DiskCacheError) -> [(row: Int64, entry: IndexEntry)] {
        let condition = """
            WHERE id > ? AND NOT EXISTS (
                SELECT 1 FROM source
                WHERE source.low = entry.sourceLow AND source.high = entry.sourceHigh)
            ORDER BY id LIMIT ?
            """
        return try numberedEntries(condition, [row, limit])
    }

    private func numberedEntries(
        _ condition: String, _ arguments: StatementArguments
    ) throws(DiskCacheError) -> [(row: Int64, entry: IndexEntry)] {
        let sql = "SELECT \(IndexEntry.columns), id FROM entry \(condition)"
        return try translating {
            try pool.read { db in
                try Row.fetchAll(db, sql: sql, arguments: arguments).map { row in
                    guard let id = Int64.fromDatabaseValue(row["id"]) else { throw Row.altered }
                    return (id, try IndexEntry(row))
                }
            }
        }
    }

    private func entries(_ condition: String) throws(DiskCacheError) -> [IndexEntry] {
        let sql = "SELECT \(IndexEntry.columns) FROM entry \(condition)"
        return try translating {
            try pool.read { db in try Row.fetchAll(db, sql: sql).map { try IndexEntry($0) } }
        }
    }

    private func put(_ entry: IndexEntry, _ db: Database, _ tally: inout DiskTally) throws {
        if try delete(entry.id, db, &tally) { tally.replaced += 1 }
        let sql = "INSERT INTO entry (\(IndexEntry.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        try db.cachedStatement(sql: sql).execute(arguments: [
            entry.id.key.highBits, entry.id.key.lowBits, entry.id.kind.rawValue, entry.sourceKey.highBits,
            entry.sourceKey.lowBits, entry.bytes, entry.storedAt, entry.accessedAt,
        ])
        tally.add(entries: 1, bytes: allocated(entry.bytes), of: entry.id.kind)
    }

    /// Deletes an entry's row; false if there is none.
    @discardableResult
    private func delete(_ id: EntryID, _ db: Database, _ tally: inout DiskTally) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: "DELETE FROM entry WHERE low = ? AND high = ? AND kind = ? RETURNING bytes")
        let earlier = try Int64.fetchOne(
            statement, arguments: [id.key.lowBits, id.key.highBits, id.kind.rawValue])
        if let earlier { tally.add(entries: -1, bytes: -allocated(earlier), of: id.kind) }
        return earlier != nil
    }

    private func recordAccess(_ id: EntryID, at time: Int64, _ db: Database) throws {
        try db.cachedStatement(
            sql: "UPDATE entry SET accessedAt = ? WHERE low = ? AND high = ? AND kind = ? AND accessedAt < ?"
        ).execute(arguments: [
            time, id.key.lowBits, id.key.highBits, id.kind.rawValue, time - accessPrecision,
        ])
    }

    // MARK: - Tags

    private func link(_ link: TagLink, at time: Int64, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO tag (name, high, low, sourceHigh, sourceLow, seenAt)
                VALUES (?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            link.tag, link.result.highBits, link.result.lowBits, link.source.highBits, link.source.lowBits,
            time,
        ])
    }

    /// Results that carry a tag, by key.
    ///
    /// - Parameter last: the one after which to begin; nil for the first.
    func links(ofTag tag: String, after last: TagLink? = nil, limit: Int) throws(DiskCacheError) -> [TagLink]
    {
        let (low, high) = (last?.result.lowBits ?? .min, last?.result.highBits ?? .min)
        return try links(
            "WHERE name = ? AND (low, high) \(last == nil ? ">=" : ">") (?, ?) ORDER BY low, high LIMIT ?",
            [tag, low, high, limit])
    }

    /// The links seen longest ago, beyond `most`, at most `limit`.
    func excessLinks(beyond most: Int, limit: Int) throws(DiskCacheError) -> [TagLink] {
        let excess = try translating {
            try pool.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM tag") ?? 0 } - most
        }
        return excess > 0 ? try links("ORDER BY seenAt LIMIT ?", [min(excess, limit)]) : []
    }

    private func links(
        _ condition: String, _ arguments: StatementArguments
    ) throws(DiskCacheError) -> [TagLink] {
        let sql = "SELECT name, high, low, sourceHigh, sourceLow FROM tag \(condition)"
        return try translating {
            try pool.read { try Row.fetchAll($0, sql: sql, arguments: arguments) }.map { row in
                guard let tag = String.fromDatabaseValue(row[0]) else { throw Row.altered }
                return TagLink(tag: tag, result: try row.key(at: 1), source: try row.key(at: 3))
            }
        }
    }

    // MARK: - Space

    /// How many bytes of the index's file are in use.
    func usedBytes() throws(DiskCacheError) -> Int64 {
        try translating {
            try pool.read { db in
                let pages = try Int64.fetchOne(db, sql: "PRAGMA page_count") ?? 0
                let free = try Int64.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
                return (pages - free) * (try Int64.fetchOne(db, sql: "PRAGMA page_size") ?? 0)
            }
        }
    }

    /// Returns at most `limit` unused pages to the file system; false if there are none.
    func releasePages(limit: Int) throws(DiskCacheError) -> Bool {
        try translating {
            try pool.writeWithoutTransaction { db in
                guard try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0 > 0 else { return false }
                _ = try Row.fetchAll(db, sql: "PRAGMA incremental_vacuum(\(limit))")
                guard try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0 == 0 else { return true }
                // The file gets shorter when the log is written back. Lost: that a reader is active; the next
                // checkpoint does it.
                _ = try? db.checkpoint(.passive)
                return false
            }
        }
    }
}

extension IndexEntry {
    /// The columns that `init` reads, in its order.
    static let columns = "high, low, kind, sourceHigh, sourceLow, bytes, storedAt, accessedAt"

    /// Reads a row of `columns`.
    /// - Throws: `brokenIndex` for a row that no daemon wrote.
    init(_ row: Row) throws {
        guard let kind = EntryKind(rawValue: UInt8(truncatingIfNeeded: try row.integer(at: 2))) else {
            throw Row.altered
        }
        self.init(
            id: EntryID(kind: kind, key: try row.key(at: 0)), sourceKey: try row.key(at: 3),
            bytes: try row.integer(at: 5), storedAt: try row.integer(at: 6),
            accessedAt: try row.integer(at: 7))
    }
}
