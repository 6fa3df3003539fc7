// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Synchronization

extension DiskIndex {
    // MARK: - What files say of records

    /// Has no snapshot in any file believed that was made before now.
    func beginEpoch() throws(DiskCacheError) {
        try translating { try pool.write { try beginEpoch($0) } }
    }

    func beginEpoch(_ db: Database) throws {
        // Before the commit: a file that is sealed meanwhile has the new epoch at the earliest when the old is void.
        currentEpoch.store(try Self.setEpoch(db), ordering: .releasing)
    }

    /// A new epoch, 1 or more, written where SQLite keeps a number for its users.
    static func setEpoch(_ db: Database) throws -> UInt32 {
        let epoch = UInt32.random(in: 1...UInt32(Int32.max))
        try db.execute(sql: "PRAGMA user_version = \(epoch)")
        return epoch
    }

    // MARK: - What the index may have lost

    /// The count of revocations, and the era of records that are believed; each record is of the one in which it was saved.
    static let revocationColumns = """
        ALTER TABLE seal ADD COLUMN revocations INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE seal ADD COLUMN era INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE source ADD COLUMN era INTEGER NOT NULL DEFAULT 0;
        """

    /// Whether links of tags were lost with an earlier index.
    static let lostLinksColumn = "ALTER TABLE seal ADD COLUMN lacksLinks INTEGER NOT NULL DEFAULT 0"

    /// Notes that links of tags are lost: from now on a purge by a tag says that it may have missed something.
    func noteLostLinks() throws(DiskCacheError) {
        try translating { try pool.write { try $0.execute(sql: "UPDATE seal SET lacksLinks = 1") } }
        lacksLinks.store(true, ordering: .releasing)
    }

    /// Reads where the index stands, once it is open.
    func readRevocations() throws(DiskCacheError) {
        try translating {
            let row = try pool.read { db in
                try Row.fetchOne(db, sql: "SELECT revocations, era, lacksLinks FROM seal")
            }
            revocations.store(try row?.integer(at: 0) ?? 0, ordering: .releasing)
            era.store(try row?.integer(at: 1) ?? 0, ordering: .releasing)
            lacksLinks.store(try row?.integer(at: 2) != 0, ordering: .releasing)
        }
    }

    /// Adds one for all that a transaction has revoked; to be made known when that is committed.
    func countRevocation(_ db: Database) throws -> Int64 {
        try db.cachedStatement(sql: "UPDATE seal SET revocations = revocations + 1").execute()
        return revocations.load(ordering: .acquiring) + 1
    }

    /// Has the origin asked about every source before it is answered from again, for the index lacks revocations, and perhaps
    /// links of tags.
    ///
    /// - Parameter count: those that there were.
    func doubtEverything(_ count: Int64) throws(DiskCacheError) {
        let known = max(count == .max ? 0 : count, revocations.load(ordering: .acquiring))
        let next = era.load(ordering: .acquiring) + 1
        try translating {
            try pool.write { db in
                try db.execute(
                    sql: "UPDATE seal SET revocations = ?, era = ?, lacksLinks = 1",
                    arguments: [known, next])
                try beginEpoch(db)
            }
        }
        revocations.store(known, ordering: .releasing)
        era.store(next, ordering: .releasing)
        lacksLinks.store(true, ordering: .releasing)
    }

    // MARK: - Tags, and what another index is told

    /// The links seen longest ago, beyond `most`, at most `limit`.
    func excessLinks(beyond most: Int, limit: Int) throws(DiskCacheError) -> [TagLink] {
        try translating {
            try pool.read { db in
                let excess = try (Int.fetchOne(db, sql: "SELECT COUNT(*) FROM tag") ?? 0) - most
                guard excess > 0 else { return [] }
                return try Self.links(db, "ORDER BY seenAt LIMIT \(min(excess, limit))")
            }
        }
    }

    static func links(_ db: Database, _ order: String) throws -> [TagLink] {
        let sql = "SELECT name, high, low, sourceHigh, sourceLow FROM tag \(order)"
        return try Row.fetchAll(db, sql: sql).map { row in
            guard let tag = String.fromDatabaseValue(row[0]) else { throw Row.altered }
            return TagLink(tag: tag, result: try row.key(at: 1), source: try row.key(at: 3))
        }
    }

    /// Results that a tag hangs on, by key.
    ///
    /// - Parameter last: the one after which to begin; nil for the first.
    func links(ofTag tag: String, after last: TagLink? = nil, limit: Int) throws(DiskCacheError) -> [TagLink]
    {
        let (low, high) = (last?.result.lowBits ?? .min, last?.result.highBits ?? .min)
        return try translating {
            try pool.read { db in
                let rows = try Row.fetchAll(
                    db,
                    sql: """
                        SELECT high, low, sourceHigh, sourceLow FROM tag
                        WHERE name = ? AND (low, high) \(last == nil ? ">=" : ">") (?, ?)
                        ORDER BY low, high LIMIT ?
                        """,
                    arguments: [tag, low, high, limit])
                return try rows.map { row in
                    TagLink(tag: tag, result: try row.key(at: 0), source: try row.key(at: 2))
                }
            }
        }
    }

    /// The links that were seen last, at most `limit`, of an index that is to be set aside.
    func latestLinks(limit: Int) throws(DiskCacheError) -> [TagLink] {
        try translating { try pool.read { try Self.links($0, "ORDER BY seenAt DESC LIMIT \(limit)") } }
    }
}

extension IndexChange {
    /// Whether an operator's purge is in it, which is to outlive a power cut as well.
    var isPurge: Bool {
        switch self {
        case .unlink, .deleteRecord, .deleteEverything: true
        case .save(let record, _): record.directives.contains(.purged)
        case .put, .delete, .touch, .link: false
        }
    }
}
