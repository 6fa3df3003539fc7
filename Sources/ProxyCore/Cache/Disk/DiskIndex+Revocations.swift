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

    /// Reads where the index stands, once it is open.
    func readRevocations() throws(DiskCacheError) {
        try translating {
            let row = try pool.read { try Row.fetchOne($0, sql: "SELECT revocations, era FROM seal") }
            revocations.store(try row?.integer(at: 0) ?? 0, ordering: .releasing)
            era.store(try row?.integer(at: 1) ?? 0, ordering: .releasing)
        }
    }

    /// Adds one for all that a transaction has revoked; to be made known when that is committed.
    func countRevocation(_ db: Database) throws -> Int64 {
        try db.cachedStatement(sql: "UPDATE seal SET revocations = revocations + 1").execute()
        return revocations.load(ordering: .acquiring) + 1
    }

    /// Has the origin asked about every source before it is answered from again, for the index lacks revocations.
    ///
    /// - Parameter count: those that there were.
    func doubtEverything(_ count: Int64) throws(DiskCacheError) {
        let known = max(count == .max ? 0 : count, revocations.load(ordering: .acquiring))
        let next = era.load(ordering: .acquiring) + 1
        try translating {
            try pool.write { db in
                try db.execute(
                    sql: "UPDATE seal SET revocations = ?, era = ?", arguments: [known, next])
                try beginEpoch(db)
            }
        }
        revocations.store(known, ordering: .releasing)
        era.store(next, ordering: .releasing)
    }

    // MARK: - What another index is told

    /// The links that were seen last, at most `limit`, of an index that is to be set aside.
    func latestLinks(limit: Int) throws(DiskCacheError) -> [TagLink] {
        let sql = "SELECT name, high, low, sourceHigh, sourceLow FROM tag ORDER BY seenAt DESC LIMIT \(limit)"
        return try translating {
            try pool.read { db in
                try Row.fetchAll(db, sql: sql).map { row in
                    guard let tag = String.fromDatabaseValue(row[0]) else { throw Row.altered }
                    return TagLink(tag: tag, result: try row.key(at: 1), source: try row.key(at: 3))
                }
            }
        }
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
