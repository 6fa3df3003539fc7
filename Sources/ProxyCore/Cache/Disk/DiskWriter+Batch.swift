// SPDX-License-Identifier: Apache-2.0

import Bodies
import Freshness
import Primitives
import Synchronization

/// What a batch of jobs has done to files and has yet to be written to the index.
struct WriteBatch {
    var changes: [IndexChange] = []
    /// Entries whose files were named; removed again if the index can't be written.
    var named: [EntryID] = []
    /// Tags that are known when the index is written.
    var links: [TagLink] = []
    var isDurable = false
    /// Whether it removes for a purge: on a full disk entries are removed for it.
    var isPurge = false
    /// The length of the files that were named.
    var bytes: Int64 = 0
    /// Called when the index is written, or with why it can't be.
    var completions: [(DiskCacheError?) -> Void] = []
}

/// What jobs do. While the tier is off, nothing can be removed, and nothing is stored; tags are recorded,
/// since memory still holds their results.
extension DiskWriter {
    /// Runs the jobs in their order, in one transaction, or in several if one needs to see the result of
    /// another.
    ///
    /// A process that is killed between a file's change and the transaction leaves a file without a row,
    /// which the next start finds by scanning the folder, or a row without a file, which is a miss.
    func run(_ jobs: [WriteJob]) {
        var batch = WriteBatch()
        for job in jobs { job.run(self, &batch) }
        flush(&batch)
        guard !storage.isOff else { return }
        if isOverSize, knowsEverything { mustSweep = true }
    }

    // MARK: - Storing

    /// Names a staged file, whose header is written, as the entry's; and saves its source's record, if given.
    func name(
        _ file: OwnedDescriptor, as entry: IndexEntry, record: SourceRecord?,
        _ batch: inout WriteBatch
    ) throws(DiskCacheError) {
        try storage.requireOn()
        if try storage.folder.link(file, as: entry.id) {
            storage.counters.withLock { $0.evicted(1, because: .replaced) }
        }
        storage.entries.insert(entry.id)
        batch.named.append(entry.id)
        batch.bytes += entry.bytes
        batch.changes.append { try $0.put(entry) }
        if let record { try save(record, nil, &batch) }
    }

    /// Writes a short body into a file, names that, and saves the record.
    func store(_ write: PendingWrite, _ batch: inout WriteBatch) throws(DiskCacheError) {
        guard write.token?.isValidForBody ?? true else { throw .purged }
        // A 304 may have come while it waited: the bytes are still right, the record is not.
        let record = write.latestRecord
        let staged = try storage.stage(kind: write.description.kind, keyText: write.description.keyText)
        try staged.file.write(write.body, at: staged.bodyOffset)
        let entry = try storage.finish(
            staged, write.description, record, byteCount: write.body.count, checksum: write.checksum,
            durable: false)
        try name(staged.file, as: entry, record: record, &batch)
    }

    /// Saves a source's record.
    func save(
        _ record: SourceRecord, _ token: PurgeToken?, _ batch: inout WriteBatch
    ) throws(DiskCacheError) {
        try storage.requireOn()
        guard token?.isValid ?? true else { throw .purged }
        let now = storage.clock()
        batch.changes.append { try $0.save(record, at: now) }
    }

    // MARK: - Removal

    /// Removes an entry; false if there was none.
    ///
    /// Unlinks before the index is written: a purge that was answered has removed the file and committed the
    /// change.
    func remove(
        _ id: EntryID, row: Int64? = nil, because reason: EvictionReason, _ batch: inout WriteBatch
    ) throws(DiskCacheError) -> Bool {
        guard !storage.isOff else { return false }
        let existed = try storage.folder.unlink(id)
        storage.entries.remove(id)
        if reason == .purged { batch.isPurge = true }
        batch.changes.append { try $0.delete(id, row: row) }
        if existed || reason == .missing { storage.counters.withLock { $0.evicted(1, because: reason) } }
        return existed
    }

    // MARK: - The index

    /// Writes the index and calls the completions; files whose rows can't be written are removed again.
    func flush(_ batch: inout WriteBatch) {
        let completions = batch.completions
        var named = batch.named
        batch.completions = []
        do throws(DiskCacheError) {
            try writeIndex(&batch)
            for completion in completions { completion(nil) }
        } catch {
            storage.failed(with: error, changes: max(1, completions.count))
            // A broken index is rebuilt from the files: those stay, and are found then.
            if case .brokenIndex = error { named = [] }
            for id in named {
                storage.entries.remove(id)
                // Ignored: that this can't be written either; the folder's lock makes a start that follows a kill scan it.
                if (try? storage.folder.unlink(id)) == nil { try? abandonFiles() }
            }
            for completion in completions { completion(error) }
        }
    }

    func writeIndex(_ batch: inout WriteBatch) throws(DiskCacheError) {
        let all = batch
        batch = WriteBatch(completions: all.completions)
        try apply(all.changes, durable: all.isDurable, makesSpace: all.isPurge)
        if !all.links.isEmpty { storage.tags.insert(all.links) }
        if all.bytes > 0 { storage.report { $0.stored(all.bytes, at: $1) } }
    }

    /// Makes changes in the index, and counts what they change.
    ///
    /// - Parameter makesSpace: whether random entries are removed for it on a full disk: for removals.
    func apply(
        _ changes: [IndexChange], durable: Bool = false, makesSpace: Bool = false
    ) throws(DiskCacheError) {
        guard !changes.isEmpty else { return }
        let index = storage.index
        let change =
            makesSpace
            ? try storage.withSpace { () throws(DiskCacheError) in try index.apply(changes, durable: durable)
            }
            : try index.apply(changes, durable: durable)
        storage.counters.withLock { $0.tally += change }
    }
}
