// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension DiskCache {
    /// Opens a file for the body of an entry-to-be.
    ///
    /// Blocking, but short: one open(2).
    /// - Throws: `full`; `overloaded` when too many files are open; `invalid` when the text is longer than a file can hold; the
    ///   call that failed.
    public func stage(kind: EntryKind, keyText: String) throws(DiskCacheError) -> StagedEntry {
        do {
            return try parts.stage(kind: kind, keyText: keyText, countedBy: parts.bodies)
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
    ///   - savesRecord: whether the record is remembered, too, as by `save`.
    ///   - durable: returns only when a machine that loses its power finds the entry, too.
    ///   - permit: when it is void, nothing is stored.
    /// - Throws: `purged`; `tooLarge`; `full` and the like; `invalid` when the description is not that of what was staged, or the body is short;
    ///   `overloaded` when too many changes wait. The entry is then not there, and an earlier one may be gone.
    public func commit(
        _ staged: StagedEntry, _ description: EntryDescription, byteCount: Int, bodyChecksum: UInt32? = nil,
        record: SourceRecord? = nil, savesRecord: Bool = false, durable: Bool = false,
        permit: PurgeLedger.Permit? = nil
    ) async throws(DiskCacheError) {
        guard description.kind == staged.kind, description.keyText == staged.keyText else {
            throw .invalid("the description is not of what was staged")
        }
        let saved = savesRecord ? record : nil
        do {
            try checkSize(byteCount)
            let row = try await readers.run { () throws(DiskCacheError) in
                try self.parts.seal(
                    staged, description, record, byteCount: byteCount, checksum: bodyChecksum,
                    durable: durable)
            }
            _ = try await writer.perform(
                .commit(row, staged.file, durable: durable, record: saved, permit))
            try remember(saved, permit)
        } catch {
            failed(with: error)
            throw error
        }
    }

    /// Stores a body that is in memory: stages, writes and commits it.
    ///
    /// The writer does all of that, so this is for bodies that are written in no time.
    /// - Parameters:
    ///   - checksum: the CRC32C of the body, where it is known.
    ///   - record, savesRecord: as in `commit`.
    /// - Throws: as `stage` and `commit`.
    public func store(
        _ description: EntryDescription, body: [UInt8], checksum: UInt32? = nil,
        record: SourceRecord? = nil, savesRecord: Bool = false, durable: Bool = false,
        permit: PurgeLedger.Permit? = nil
    ) async throws(DiskCacheError) {
        let draft = WriteJob.Draft(
            description: description, body: body, checksum: checksum ?? Checksum.crc32c(body), record: record)
        let saved = savesRecord ? record : nil
        do {
            try checkSize(body.count)
            _ = try await writer.perform(.store(draft, durable: durable, record: saved, permit))
            try remember(saved, permit)
        } catch {
            failed(with: error)
            throw error
        }
    }

    /// Stores a body that is in memory, without waiting for it: it is found at once, and in its file a moment later.
    ///
    /// Who kills the process within `limits.storeDelay` finds it no more; what else can go wrong is counted.
    /// - Parameter record: of the source, remembered too, whatever becomes of the body.
    /// - Returns: false when too much waits, the body is too large, or the permit is void: then nothing will be stored.
    public func storeSoon(
        _ description: EntryDescription, body: [UInt8], checksum: UInt32, record: SourceRecord,
        permit: PurgeLedger.Permit? = nil
    ) -> Bool {
        guard !parts.isOff, fits(body.count), records.save(record, permit) else { return false }
        let draft = WriteJob.Draft(
            description: description, body: body, checksum: checksum, record: record)
        guard let ticket = drafts.insert(draft, permit) else {
            failed(with: .overloaded)
            return false
        }
        let refusal = writer.enqueuePatiently(.store(draft, durable: false, record: record, permit)) {
            [drafts, weak self] result in
            drafts.remove(ticket)
            guard case .failure(let error) = result, let self else { return }
            failed(with: error)
            guard error != .purged else { return }
            // A newer one, known since, has been handed to the writer after it became known: that one stays.
            writer.enqueue(
                .saveLate(record, permit) { [records] in records.record(for: record.key) == record })
        }
        guard let refusal else { return true }
        drafts.remove(ticket)
        failed(with: refusal)
        return false
    }

    /// Whether answers may go out before the files of small bodies are written.
    public var storesSoon: Bool { parts.configuration.limits.storeDelay.milliseconds > 0 }

    /// Waits until everything that was stored so far is in its file, or never will be.
    public func settle() async {
        guard !drafts.isEmpty else { return }
        // Lost: that the tier is closing, or overloaded; what waits in it is done all the same.
        _ = try? await writer.perform(.nothing)
    }

    /// Whether an entry can stay: a larger one would have a sweep remove all others, and itself at the end.
    private func fits(_ byteCount: Int) -> Bool {
        Int64(byteCount) <= parts.entryBytes(of: parts.bounds.withLock(\.lowWater))
    }

    private func checkSize(_ byteCount: Int) throws(DiskCacheError) {
        guard fits(byteCount) else { throw .tooLarge }
    }

    private func remember(
        _ record: SourceRecord?, _ permit: PurgeLedger.Permit?
    ) throws(DiskCacheError) {
        guard let record else { return }
        guard records.save(record, permit) else { throw .purged }
    }
}
