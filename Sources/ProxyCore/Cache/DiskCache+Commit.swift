// SPDX-License-Identifier: Apache-2.0

import Glibc

extension DiskCache {
    /// Opens a file for the body of an entry-to-be.
    ///
    /// Blocking, but short: one open(2).
    /// - Throws: `full`; `invalid` when the text is longer than a file can hold; the call that failed.
    public func stage(kind: EntryKind, keyText: String) throws(DiskCacheError) -> StagedEntry {
        guard let offset = DiskEntry.bodyOffset(keyText: keyText) else {
            throw .invalid("the key's text is longer than \(DiskEntry.maxKeyTextLength) bytes")
        }
        do {
            let file = try parts.folder.stage()
            return StagedEntry(file: file, bodyOffset: offset, kind: kind, keyText: keyText)
        } catch {
            failed(with: error)
            throw error
        }
    }

    /// Makes a staged entry the one that look-ups find, in place of an earlier one.
    ///
    /// When it returns, the entry is found, and a killed process leaves it there.
    ///
    /// - Parameters:
    ///   - byteCount: the length of the body; what the file holds beyond it is cut off.
    ///   - bodyChecksum: the CRC32C of the body, where it is known; else the body is read once.
    ///   - record: what is known of the source: kept beside the body, so that a hit asks the file alone.
    ///   - durable: returns only when a machine that loses its power finds the entry, too.
    ///   - permit: when it is void, nothing is stored.
    /// - Throws: `purged`; `full` and the like; `invalid` when the description is not that of what was staged, or the body is short;
    ///   `overloaded` when too many changes wait. The entry is then not there, and an earlier one may be gone.
    public func commit(
        _ staged: StagedEntry, _ description: EntryDescription, byteCount: Int, bodyChecksum: UInt32? = nil,
        record: SourceRecord? = nil, durable: Bool = false, permit: PurgeLedger.Permit? = nil
    ) async throws(DiskCacheError) {
        guard description.kind == staged.kind, description.keyText == staged.keyText else {
            throw .invalid("the description is not of what was staged")
        }
        do {
            let row = try await readers.run { () throws(DiskCacheError) in
                try self.seal(
                    staged, description, record, byteCount: byteCount, checksum: bodyChecksum,
                    durable: durable)
            }
            _ = try await writer.perform(.commit(row, staged.file, durable: durable, permit))
        } catch {
            failed(with: error)
            throw error
        }
    }

    /// Stores a body that is in memory: stages, writes and commits it.
    /// - Throws: as `stage` and `commit`.
    public func store(
        _ description: EntryDescription, body: [UInt8], record: SourceRecord? = nil, durable: Bool = false,
        permit: PurgeLedger.Permit? = nil
    ) async throws(DiskCacheError) {
        do {
            let (row, file) = try await readers.run {
                () throws(DiskCacheError) -> (IndexEntry, OwnedDescriptor) in
                let staged = try self.stage(kind: description.kind, keyText: description.keyText)
                try staged.file.write(body, at: staged.bodyOffset)
                let row = try self.seal(
                    staged, description, record, byteCount: body.count, checksum: Checksum.crc32c(body),
                    durable: durable)
                return (row, staged.file)
            }
            _ = try await writer.perform(.commit(row, file, durable: durable, permit))
        } catch {
            failed(with: error)
            throw error
        }
    }

    /// Writes the header before the body, so that the file describes itself.
    private func seal(
        _ staged: StagedEntry, _ description: EntryDescription, _ record: SourceRecord?, byteCount: Int,
        checksum: UInt32?, durable: Bool
    ) throws(DiskCacheError) -> IndexEntry {
        let length = Int64(byteCount)
        let status = try parts.folder.status(of: staged.file)
        let end = staged.bodyOffset + length
        guard status.size >= end || length == 0 else {
            throw .invalid("the body is shorter than \(byteCount) bytes")
        }
        if status.size != end, ftruncate(staged.file.raw, off_t(end)) != 0 {
            throw DiskCacheError("ftruncate", code: errno)
        }
        let body = EntryFile(file: staged.file, status: status)
        var known = checksum
        if known == nil { known = try body.checksum(of: length, from: staged.bodyOffset, fromMemory: false) }
        let entry = DiskEntry(
            description: description, bodyLength: length, bodyChecksum: known ?? 0,
            snapshot: record.flatMap { RecordSnapshot(of: $0, epoch: parts.index.epoch) })
        try staged.file.write(entry.encoded(), at: 0)
        if durable { try staged.file.sync() }
        return IndexEntry(
            id: entry.id, sourceKey: description.sourceKey, bytes: entry.fileLength,
            storedAt: description.storedAt, accessedAt: parts.clock())
    }
}
