// SPDX-License-Identifier: Apache-2.0

import Glibc

extension DiskParts {
    /// Opens a file for the body of an entry-to-be.
    func stage(
        kind: EntryKind, keyText: String, countedBy files: BodyFiles? = nil
    ) throws(DiskCacheError) -> StagedEntry {
        if let outage { throw outage }
        guard let offset = DiskEntry.bodyOffset(keyText: keyText) else {
            throw .invalid("the key's text is longer than \(DiskEntry.maxKeyTextLength) bytes")
        }
        return StagedEntry(
            file: try folder.stage(countedBy: files), bodyOffset: offset, kind: kind, keyText: keyText)
    }

    /// Writes the header before the body, so that the file describes itself.
    ///
    /// - Parameter checksum: the body's CRC32C; where it is nil the body is read once.
    func seal(
        _ staged: StagedEntry, _ description: EntryDescription, _ record: SourceRecord?, byteCount: Int,
        checksum: UInt32?, durable: Bool
    ) throws(DiskCacheError) -> IndexEntry {
        let length = Int64(byteCount)
        let status = try folder.status(of: staged.file)
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
            snapshot: snapshot(of: record))
        try staged.file.write(entry.encoded(), at: 0)
        if durable { try staged.file.sync() }
        return indexEntry(entry)
    }

    /// Writes a body that is in memory into a new file, header and all in one call.
    func write(_ draft: WriteJob.Draft, durable: Bool) throws(DiskCacheError) -> (IndexEntry, OwnedDescriptor)
    {
        let description = draft.description
        let staged = try stage(kind: description.kind, keyText: description.keyText)
        let entry = DiskEntry(
            description: description, bodyLength: Int64(draft.body.count), bodyChecksum: draft.checksum,
            snapshot: snapshot(of: draft.record))
        try staged.file.write(entry.encoded(), draft.body)
        if durable { try staged.file.sync() }
        return (indexEntry(entry), staged.file)
    }

    private func snapshot(of record: SourceRecord?) -> RecordSnapshot? {
        record.flatMap { RecordSnapshot(of: $0, epoch: index.epoch) }
    }

    private func indexEntry(_ entry: DiskEntry) -> IndexEntry {
        IndexEntry(
            id: entry.id, sourceKey: entry.description.sourceKey, bytes: entry.fileLength,
            storedAt: entry.description.storedAt, accessedAt: clock())
    }
}
