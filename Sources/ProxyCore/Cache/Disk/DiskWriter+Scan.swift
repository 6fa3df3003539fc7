// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A scan of folders whose files the index may not know completely, a few files at a time.
struct FolderScan {
    /// Folders that have yet to be scanned, the next one last.
    private var shards: [DiskFolder.Shard]
    /// Names in the next one that have yet to be looked at; nil before it has been read.
    private var names: [String]?
    /// Why something could not be scanned, if that is so.
    private(set) var failure: DiskCacheError?
    /// Whether something could not be scanned this time.
    private var isPartial = false

    init(of shards: [DiskFolder.Shard]) { self.shards = shards }

    /// Whether everything has been scanned that can be.
    var isDone: Bool { shards.isEmpty }
    /// Whether everything has been scanned.
    var isComplete: Bool { shards.isEmpty && !isPartial }

    /// At most `limit` names that are looked at next, and their folder; nil if there are none.
    mutating func next(
        _ limit: Int, in folder: DiskFolder
    ) throws(DiskCacheError) -> (shard: DiskFolder.Shard, names: [String])? {
        guard let shard = shards.popLast() else { return nil }
        let all = if let names { names } else { try folder.names(in: shard.path) }
        names = all.count > limit ? all.dropLast(limit) : nil
        if names != nil { shards.append(shard) }
        return (shard, all.suffix(limit))
    }

    /// Records that something can't be scanned; true if that was not known.
    mutating func fail(with error: DiskCacheError) -> Bool {
        defer { (failure, isPartial) = (error, true) }
        return failure == nil
    }

    /// Scans everything again, if something could not be scanned.
    mutating func retry() {
        if isDone, isPartial { (shards, isPartial) = (DiskFolder.Shard.all, false) }
    }
}

/// Finds, after a start, the files that the index does not know.
extension DiskWriter {
    /// Scans some more files of a folder that the index may not know completely; false if there are none.
    ///
    /// What can't be read blocks neither the scan of the rest nor the sweep: all is scanned again some time later.
    func stepScan() throws(DiskCacheError) -> Bool {
        guard !scan.isDone else { return false }
        do throws(DiskCacheError) {
            if let (shard, names) = try scan.next(batchSize, in: storage.folder) {
                try adopt(names, in: shard)
            }
        } catch {
            let isNew = scan.fail(with: error)
            guard error.concernsOneFile else { throw error }
            storage.counters.withLock { $0.readErrors += 1 }
            if isNew { storage.report { $0.failed(with: error, at: $1) } }
        }
        if scan.isComplete, isLoaded { storage.entries.markComplete() }
        if isOverSize, knowsEverything { mustSweep = true }
        return true
    }

    /// Completes the scan, for a purge, which must not miss a file.
    /// - Throws: why a folder can't be scanned.
    func finishScan() throws(DiskCacheError) {
        while try stepScan() {}
        if !scan.isComplete, let failure = scan.failure { throw failure }
    }

    /// Adds unknown files to the index, and removes what is not an entry.
    /// - Throws: also, after all others, why a file could not be read.
    private func adopt(_ names: [String], in shard: DiskFolder.Shard) throws(DiskCacheError) {
        var failure: DiskCacheError?
        var adopted: [IndexEntry] = []
        for name in names {
            do throws(DiskCacheError) {
                guard let key = EntryPath.key(ofName: name) else {
                    try storage.folder.removeFile("\(shard.path)/\(name)")
                    continue
                }
                let id = EntryID(kind: shard.kind, key: key)
                // The set may not have all entries yet, or another one of the same bits.
                if try storage.index.contains(id) { continue }
                guard let file = try storage.folder.open(id, fromMemory: false) else { continue }
                if let entry = try EntryFile(file).header(), entry.id == id {
                    adopted.append(IndexEntry(entry, accessedAt: storage.clock()))
                } else {
                    try storage.folder.unlink(id)
                }
            } catch  where error.concernsOneFile {
                failure = error
            }
        }
        try apply(adopted.map { entry in { try $0.put(entry) } })
        for entry in adopted { storage.entries.insert(entry.id) }
        if let failure { throw failure }
    }
}
