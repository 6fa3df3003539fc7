// SPDX-License-Identifier: Apache-2.0

package import Primitives
import Synchronization

/// Work on all entries that an operator orders, in pieces between which the writer does other work.
extension DiskCache {
    /// The number of rows of one piece.
    private static let rowsAtOnce = 500

    /// Removes the sources whose key's text is to go, with all entries made from them; returns how many entries those
    /// were.
    ///
    /// Reads all rows of sources, and the headers of the files whose source is not on record.
    package func removeAllSources(
        whereKeyText isRemoved: @escaping @Sendable (String) -> Bool
    ) async throws(DiskCacheError) -> Int {
        guard !parts.isOff else { return 0 }
        // Its rows must be all there are.
        try await writer.perform { (writer, _) throws(DiskCacheError) in
            try writer.finishScan()
            return 0
        }
        var (count, row) = (0, Int64(0))
        while true {
            let after = row
            let sources = try await onReader { () throws(DiskCacheError) in
                try self.parts.index.sources(after: after, limit: Self.rowsAtOnce)
            }
            guard let last = sources.last else { break }
            row = last.row
            count += try await removeAll(ofSources: sources.filter { isRemoved($0.keyText) }.map(\.key))
        }
        row = 0
        while true {
            let after = row
            let found = try await onReader { () throws(DiskCacheError) in
                try self.entriesWithoutRecord(after: after)
            }
            guard let last = found.row else { return count }
            row = last
            count += try await removeAll(ofSources: found.entries.filter { isRemoved($0.text) }.map(\.source))
        }
    }

    private func entriesWithoutRecord(
        after row: Int64
    ) throws(DiskCacheError) -> (row: Int64?, entries: [(text: String, source: CacheKey)]) {
        let rows = try parts.index.entries(after: row, limit: Self.rowsAtOnce)
        var entries: [(text: String, source: CacheKey)] = []
        for entry in rows where try !parts.index.hasRecord(for: entry.sourceKey) {
            guard let file = try parts.folder.open(entry.id, fromMemory: false),
                let header = try EntryFile(file).header()
            else { continue }
            entries.append((header.description.keyText, entry.sourceKey))
        }
        return (rows.last?.row, entries)
    }

    // MARK: - Verification

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
        try parts.requireOn()
        return try await onReader { () throws(DiskCacheError) in
            let rows = try self.parts.index.entries(after: row, limit: Self.rowsAtOnce)
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
        guard let file = try parts.folder.open(id, fromMemory: false) else {
            // It may have been removed since the row was read.
            if parts.entries.hasSeen(id) {
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
