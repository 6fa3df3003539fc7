// SPDX-License-Identifier: Apache-2.0

/// A scan of folders whose files the index may not know completely, a few files at a time.
struct FolderScan {
    /// Folders that have yet to be scanned, the next one last.
    private(set) var shards: [DiskFolder.Shard]
    /// Names in the next one that have yet to be looked at; nil before it has been read.
    private var names: [String]?
    /// Folders that could not be scanned, and are scanned again after the next sweep; and why.
    private var unreadable: [DiskFolder.Shard] = []
    private(set) var failure: DiskCacheError?

    init(of shards: [DiskFolder.Shard]) { self.shards = shards }

    /// Whether every folder has been scanned that can be.
    var isDone: Bool { shards.isEmpty }
    /// Whether every folder has been scanned.
    var isComplete: Bool { shards.isEmpty && unreadable.isEmpty }

    /// At most `limit` names in the next folder.
    mutating func next(_ limit: Int, in folder: DiskFolder) throws(DiskCacheError) -> ArraySlice<String> {
        guard let shard = shards.last else { return [] }
        let names = if let names { names } else { try folder.names(in: shard.path) }
        self.names = names
        return names.suffix(limit)
    }

    /// Records that `count` names were looked at.
    mutating func advance(by count: Int) {
        names?.removeLast(count)
        if names?.isEmpty ?? true { skip() }
    }

    /// Leaves the rest of the next folder.
    mutating func skip() {
        names = nil
        shards.removeLast()
    }

    /// Has a folder scanned again later; true if it is the first one since `retry`.
    mutating func postpone(_ shard: DiskFolder.Shard, because error: DiskCacheError) -> Bool {
        defer { failure = error }
        if unreadable.last?.path != shard.path { unreadable.append(shard) }
        return failure == nil
    }

    /// Scans the folders again that could not be scanned.
    mutating func retry() {
        if unreadable.isEmpty { failure = nil }
        shards += unreadable
        unreadable = []
    }
}

/// Finds, after a start, the files that the index does not know.
extension DiskWriter {
    /// Scans some more files of a folder that the index may not know completely; false if there are none.
    func stepScan() throws(DiskCacheError) -> Bool {
        guard loading == .done, let shard = scan.shards.last else { return false }
        do throws(DiskCacheError) {
            let names = try scan.next(batchSize, in: parts.folder)
            // Files that could not be read are read again later.
            if let failure = try adopt(names, in: shard) { postpone(shard, because: failure) }
            scan.advance(by: names.count)
        } catch  where error.isOfOneFile {
            scan.skip()
            postpone(shard, because: error)
        }
        if scan.isComplete {
            parts.entries.markComplete()
            try parts.index.setKnowsAllFiles(true)
        }
        return true
    }

    /// Scans a folder again after the next sweep: what can't be read must block neither the scan of the rest
    /// nor the sweep.
    private func postpone(_ shard: DiskFolder.Shard, because error: DiskCacheError) {
        parts.counters.update { $0.readErrors += 1 }
        if scan.postpone(shard, because: error) { parts.monitor.failed(with: error) }
    }

    /// Completes the scan, for a purge, which must not miss a file.
    /// - Throws: why a folder can't be scanned.
    func finishScan() throws(DiskCacheError) {
        while try stepScan() {}
        if !scan.isComplete, let failure = scan.failure { throw failure }
    }

    /// Adds unknown files to the index, and removes what is not an entry; returns why some could not be read.
    private func adopt(
        _ names: ArraySlice<String>, in shard: DiskFolder.Shard
    ) throws(DiskCacheError) -> DiskCacheError? {
        var failure: DiskCacheError?
        var adopted: [IndexEntry] = []
        for name in names {
            do throws(DiskCacheError) {
                guard let key = EntryPath.key(ofName: name) else {
                    try parts.folder.removeFile("\(shard.path)/\(name)")
                    continue
                }
                let id = EntryID(kind: shard.kind, key: key)
                guard !parts.entries.hasSeen(id), let entry = try parts.indexEntry(ofFile: id) else {
                    continue
                }
                adopted.append(entry)
            } catch  where error.isOfOneFile {
                failure = error
            }
        }
        try apply(adopted.map { .put($0) })
        for entry in adopted { parts.entries.insert(entry.id) }
        return failure
    }
}
