// SPDX-License-Identifier: Apache-2.0

import GRDB

/// Entries as rows. Each carries a checksum of itself, as records do: a page that is altered on disk may well be sound
/// SQLite, and who believes it purges, evicts or counts what it should not. One row that does not hold condemns the index,
/// which can be made anew from the files.
extension IndexEntry {
    /// What `init` reads, in its order.
    static let columns = "high, low, kind, sourceHigh, sourceLow, bytes, storedAt, accessedAt, checksum"

    /// The CRC32C of all but the time of the last access, which changes too often to be worth it.
    var rowChecksum: Int64 {
        let words: InlineArray<7, Int64> = [
            id.key.highBits.littleEndian, id.key.lowBits.littleEndian, Int64(id.kind.rawValue).littleEndian,
            sourceKey.highBits.littleEndian, sourceKey.lowBits.littleEndian, bytes.littleEndian,
            storedAt.littleEndian,
        ]
        return Int64(unsafe words.span.withUnsafeBytes { unsafe Checksum.crc32c($0) })
    }

    /// Reads a row of `columns`; one of before version 5 has no checksum.
    /// - Throws: `brokenIndex` for a row that was altered.
    init(_ row: Row) throws {
        guard let kind = EntryKind(rawValue: UInt8(truncatingIfNeeded: try row.integer(at: 2))) else {
            throw Row.altered
        }
        self.init(
            id: EntryID(kind: kind, key: try row.key(at: 0)), sourceKey: try row.key(at: 3),
            bytes: try row.integer(at: 5), storedAt: try row.integer(at: 6),
            accessedAt: try row.integer(at: 7))
        let checksum: DatabaseValue = row[8]
        guard checksum.isNull || Int64.fromDatabaseValue(checksum) == rowChecksum else { throw Row.altered }
    }
}

extension Row {
    static var altered: DiskCacheError { .brokenIndex("a row was altered") }

    /// A whole number, in a column that holds nothing else unless it was altered.
    func integer(at index: Int) throws -> Int64 {
        guard let number = Int64.fromDatabaseValue(self[index]) else { throw Self.altered }
        return number
    }

    /// A key, from two columns.
    func key(at index: Int) throws -> CacheKey {
        CacheKey(highBits: try integer(at: index), lowBits: try integer(at: index + 1))
    }
}
