// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// What an operator asks about entries: a list, and the verification of all files, in pieces between which the writer does other
/// work.
extension DiskCache {
    /// The number of rows that are read at once.
    static let rowsAtOnce = 500

    /// Entries made from a source, at most `limit`.
    package func list(ofSource source: CacheKey, limit: Int) async throws(DiskCacheError) -> [IndexEntry] {
        await flush()
        guard !storage.isOff else { return [] }
        return try await onIOThread { () throws(DiskCacheError) in
            try self.storage.index.entries(ofSource: source, limit: limit)
        }
    }

    /// What a piece of a verification has found.
    package struct Verification: Sendable {
        /// Entries whose file was read to its end.
        package var entries = 0
        /// Their length in bytes.
        package var bytes: Int64 = 0
        /// Entries whose file is damaged: removed.
        package var damaged = 0
        /// Entries whose file is missing: removed.
        package var missing = 0
        /// Where the next piece begins; nil after the last entry.
        package var next: Int64?
    }

    /// Reads the files of some entries, compares their checksums, and removes those that are damaged.
    ///
    /// - Parameters:
    ///   - row: where to begin: 0, or `next` of the piece before.
    ///   - limit: ends the piece with the first entry that reaches so many bytes.
    /// - Throws: why the index or a file can't be read.
    package func verify(
        after row: Int64, atMost limit: ByteCount
    ) async throws(DiskCacheError) -> Verification {
        try storage.requireOn()
        return try await onIOThread { () throws(DiskCacheError) in
            let rows = try self.storage.index.entries(after: row, limit: Self.rowsAtOnce)
            var piece = Verification()
            for entry in rows {
                try self.verify(entry.id, &piece)
                piece.next = entry.row
                if piece.bytes >= limit.bytes { return piece }
            }
            if rows.count < Self.rowsAtOnce { piece.next = nil }
            return piece
        }
    }

    private func verify(_ id: EntryID, _ piece: inout Verification) throws(DiskCacheError) {
        guard let file = try storage.folder.open(id, fromMemory: false) else {
            // It may have been removed since the row was read.
            if storage.entries.contains(id) {
                piece.missing += 1
                discard(id, nil)
            }
            return
        }
        let opened = try EntryFile(file)
        piece.entries += 1
        piece.bytes += opened.identity.size
        if let entry = try opened.header(), entry.id == id,
            try opened.checksum(entry.bodyOffset..<entry.fileLength, fromMemory: false) == entry.bodyChecksum
        {
            return
        }
        piece.damaged += 1
        discard(id, opened.identity)
    }
}
