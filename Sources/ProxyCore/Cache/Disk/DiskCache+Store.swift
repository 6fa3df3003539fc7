// SPDX-License-Identifier: Apache-2.0

package import Bodies
package import Freshness
package import Primitives
import Synchronization

/// A file of the disk tier without a name: write the body into it from `bodyOffset` on, then commit it.
///
/// No look-up finds it, and one that is dropped leaves nothing behind, not even after a crash.
package struct StagedEntry: Sendable {
    /// The file, open for reading and writing.
    package let file: OwnedDescriptor
    /// Where the body begins; the bytes before it are reserved for the header.
    package let bodyOffset: Int64
    /// The kind of entry it will be.
    let kind: EntryKind
    /// The canonical text of the key it will have.
    let keyText: String
}

/// `stage` opens a file into which others write a body, `commit` names it. `store` does all of that for a body in memory, and returns
/// when it is in the index. `storeSoon` returns at once, and look-ups find the body before it is written; `flush` waits until
/// those are. `makeDurable` syncs an entry that is there. Records alone are stored by `save`, in `DiskCache+Records`.
extension DiskCache {
    /// Opens a file for the body of a future entry.
    ///
    /// Blocking, but short: one open(2).
    /// - Throws: `full`; `overloaded` if too many files are open; `invalid` if the text is longer than a file
    ///   can contain; the call that failed.
    package func stage(kind: EntryKind, keyText: String) throws(DiskCacheError) -> StagedEntry {
        do {
            return try storage.stage(kind: kind, keyText: keyText, countedBy: storage.bodies)
        } catch {
            failed(with: error)
            throw error
        }
    }

    /// Makes a staged entry visible to look-ups, in place of an earlier one.
    ///
    /// When it returns, the entry is found, and survives a kill of the process.
    ///
    /// - Parameters:
    ///   - byteCount: the length of the body; the file is truncated after it.
    ///   - bodyChecksum: the CRC32C of the body, if it is known; else the body is read once.
    ///   - record: the source's record: stored beside the body, so that a hit only needs the file.
    ///   - savesRecord: whether the record is stored, too, as by `save`.
    ///   - durable: returns only when the entry survives a power loss, too.
    ///   - client: the client whose turn it takes.
    ///   - token: if it is void for the body, nothing is stored; if it is for the record alone, the body without it.
    /// - Throws: `purged`; `tooLarge`; `full` and the like; `invalid` if the description is not that of what
    ///   was staged, or the body is short; `overloaded` if too many changes wait. The entry is then not
    ///   there, or not durable, and an earlier one may be gone.
    package func commit(
        _ staged: StagedEntry, _ description: EntryDescription, byteCount: Int, bodyChecksum: UInt32? = nil,
        record: SourceRecord? = nil, savesRecord: Bool = false, durable: Bool = false,
        for client: ClientID? = nil, token: PurgeToken? = nil
    ) async throws(DiskCacheError) {
        guard description.kind == staged.kind, description.keyText == staged.keyText else {
            throw .invalid("the description is not of what was staged")
        }
        guard fits(byteCount) else { throw .tooLarge }
        // A 304 may have come since it was fetched: the bytes are still right, the record is not.
        let record = token?.isValid ?? true ? record : nil
        let saved = savesRecord ? record : nil
        let entry = try await onIOThread(for: client, isStore: true) { () throws(DiskCacheError) in
            try self.storage.finish(
                staged, description, record, byteCount: byteCount, checksum: bodyChecksum,
                durable: durable)
        }
        try await writer.perform(for: client) { (writer, batch) throws(DiskCacheError) in
            let isValid = record == nil ? token?.isValidForBody : token?.isValid
            guard isValid ?? true else { throw .purged }
            try writer.name(staged.file, as: entry, record: saved, &batch)
        }
        if let saved, !storage.records.save(saved, token) { throw .purged }
        if durable, try await !makeDurable(entry, staged.file, for: client) { throw .purged }
    }

    /// Stores a body that is in memory: stages, writes and commits it.
    ///
    /// - Parameters:
    ///   - checksum: the CRC32C of the body, if it is known.
    ///   - record, savesRecord, durable, client, token: as in `commit`.
    /// - Throws: as `stage` and `commit`.
    package func store(
        _ description: EntryDescription, body: [UInt8], checksum: UInt32? = nil,
        record: SourceRecord? = nil, savesRecord: Bool = false, durable: Bool = false,
        for client: ClientID? = nil, token: PurgeToken? = nil
    ) async throws(DiskCacheError) {
        guard fits(body.count) else { throw .tooLarge }
        let staged = try await onIOThread(for: client, isStore: true) { () throws(DiskCacheError) in
            let staged = try self.storage.stage(
                kind: description.kind, keyText: description.keyText, countedBy: self.storage.bodies)
            try staged.file.write(body, at: staged.bodyOffset)
            return staged
        }
        try await commit(
            staged, description, byteCount: body.count, bodyChecksum: checksum ?? Checksum.crc32c(body),
            record: record, savesRecord: savesRecord, durable: durable, for: client, token: token)
    }

    /// Stores a body that is in memory, without waiting for it: it is found at once, and in its file a moment
    /// later.
    ///
    /// A process that is killed within `limits.storeDelay` loses it; other failures are counted.
    /// - Parameters:
    ///   - description, body, checksum, client, token: as in `commit`.
    ///   - record: of the source, stored beside the body.
    /// - Returns: false if too much waits, the body is too large, or the token is void: the body is not stored, and the
    ///   caller saves the record.
    package func storeSoon(
        _ description: EntryDescription, body: [UInt8], checksum: UInt32, record: SourceRecord,
        for client: ClientID? = nil, token: PurgeToken? = nil
    ) -> Bool {
        guard !storage.isOff, fits(body.count), storage.records.save(record, token) else { return false }
        let write = PendingWrite(
            description, body: body, checksum: checksum, record: record, token: token)
        guard buffer.insert(write) else {
            failed(with: .overloaded)
            return false
        }
        let job = WriteJob(for: client, isDeferred: true) { (writer, batch) throws(DiskCacheError) in
            try writer.store(write, &batch)
        } completion: { [buffer, weak self] result in
            buffer.remove(write)
            guard case .failure(let error) = result, let self else { return }
            if error != .purged { saveSoon(record, token) }
        }
        do throws(DiskCacheError) {
            try writer.submit(job)
            return true
        } catch {
            buffer.remove(write)
            failed(with: error)
            return false
        }
    }

    /// Saves the record of a body that could not be stored.
    private func saveSoon(_ record: SourceRecord, _ token: PurgeToken?) {
        writer.enqueue { [storage] (writer, batch) throws(DiskCacheError) in
            // A newer record was queued after it became known: that one stays.
            guard storage.records.record(for: record.key) == record else { return }
            try writer.save(record, token, &batch)
        }
    }

    /// Whether answers may be sent before the files of small bodies are written.
    package var storesSoon: Bool { storage.configuration.limits.storeDelay.milliseconds > 0 }

    /// Waits until everything that was stored so far is in its file, or never will be.
    package func flush() async {
        guard !buffer.isEmpty else { return }
        // Ignored: that the tier is closing, or overloaded; the waiting jobs run all the same.
        _ = try? await writer.perform { _, _ in }
    }

    /// Whether an entry can stay: a larger one would make a sweep remove all others, and itself at the end.
    private func fits(_ byteCount: Int) -> Bool {
        Int64(byteCount) <= storage.entryBytes(of: storage.bounds.lowWaterBytes)
    }

    // MARK: - Power loss

    /// Makes an entry on disk survive a power loss, too; nothing is rewritten.
    ///
    /// - Returns: false if the entry on disk is not the one described, or there is none: then it has to be
    ///   stored.
    /// - Throws: `overloaded` if too much waits; what went wrong with the file system.
    package func makeDurable(
        _ description: EntryDescription, for client: ClientID? = nil
    ) async throws(DiskCacheError) -> Bool {
        let (key, kind, text) = (description.key, description.kind, description.keyText)
        let found = try await onIOThread(for: client, isStore: true) {
            () throws(DiskCacheError) -> DiskHit? in
            guard let hit = try self.find(key, kind, text, .inAnyFile),
                hit.description.contentHash == description.contentHash,
                hit.description.sourceHash == description.sourceHash, case .file(let file, _, _) = hit.body
            else { return nil }
            if !hit.isReadOnly { try file.sync() }
            return hit
        }
        guard let hit = found, let file = hit.file else { return false }
        guard !hit.isReadOnly else { return true }
        let entry = IndexEntry(
            id: file.id, sourceKey: hit.description.sourceKey, bytes: file.range.upperBound,
            storedAt: hit.description.storedAt, accessedAt: storage.clock())
        return try await makeDurable(entry, file.file, for: client)
    }

    /// Makes the name of an entry's file, whose bytes are on the disk, survive a power loss; false if the file is not the entry's
    /// any more. The names are synced where the client has its turn, and not on the writer's thread, where others wait.
    private func makeDurable(
        _ entry: IndexEntry, _ file: OwnedDescriptor, for client: ClientID?
    ) async throws(DiskCacheError) -> Bool {
        let identity = try await onIOThread(for: client, isStore: true) { () throws(DiskCacheError) in
            try self.storage.folder.syncNames(of: entry.id)
            return try file.identity()
        }
        return try await writer.perform(for: client) { [storage] (_, batch) throws(DiskCacheError) in
            try storage.requireOn()
            // Another file, whose bytes may not be on the disk, may have replaced it.
            guard try storage.folder.identity(of: entry.id) == identity else { return false }
            batch.changes.append { try $0.put(entry) }
            batch.isDurable = true
            return true
        }
    }
}
