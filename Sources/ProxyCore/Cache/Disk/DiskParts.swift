// SPDX-License-Identifier: Apache-2.0

/// What the reading and the writing side of the disk tier share; each part is safe on its own.
final class DiskParts: Sendable {
    let configuration: DiskCacheConfiguration
    /// Returns the time in seconds since 1970.
    let clock: @Sendable () -> Int64
    let folder: DiskFolder
    let lock: FolderLock
    let journal: CommitJournal
    let ballast: Ballast
    let index: DiskIndex
    /// Whether the index is new or lacks changes, or the machine was cut off: then there may be files that it does not know.
    let needsScan: Bool
    let entries = EntrySet()
    let counters = DiskCounters()
    let monitor: DiskMonitor
    let touches: PendingTouches
    let verified: VerifiedFiles

    /// Opens everything in the folder, and sets right what a crash in the middle of a batch has left.
    ///
    /// Blocking: for the lock at most `patience`, else some milliseconds, however much the folder holds.
    init(
        directory: String, configuration: DiskCacheConfiguration, patience: TimeSpan,
        clock: @escaping @Sendable () -> Int64, report: @escaping @Sendable (DiskNotice) -> Void
    ) throws(DiskCacheError) {
        self.configuration = configuration
        self.clock = clock
        let limits = configuration.limits
        monitor = DiskMonitor(clock: clock, report: report)
        let folder = try DiskFolder(path: directory)
        self.folder = folder
        lock = try FolderLock(folder: folder, patience: patience)
        ballast = Ballast(folder: folder, size: limits.ballast)
        var isNew: Bool
        let isCut = WriteAheadLog.hasLostFrames(at: "\(folder.path)/\(DiskIndex.fileName)-wal")
        (journal, index, isNew) = try Self.withRoom(folder, ballast, limits) { () throws(DiskCacheError) in
            // Asked now, so that a file system without them is found at the start and not by the first request.
            _ = try folder.stage()
            let journal = try CommitJournal(folder: folder, capacity: max(1, limits.batchSize))
            let (index, isNew) = try DiskIndex.openOrRebuild(in: folder, configuration: configuration)
            return (journal, index, isNew)
        }
        touches = PendingTouches(limit: limits.maxTouches)
        verified = VerifiedFiles(capacity: limits.maxVerified)
        let (index, journal) = (index, journal)
        do {
            try Self.withRoom(folder, ballast, limits) { () throws(DiskCacheError) in
                try Self.settle(folder, journal, index, clock)
            }
        } catch .brokenIndex {
            // Some damage shows only in a page that has to be changed.
            try DiskIndex.setAside(in: folder)
            try index.reopen()
            try Self.settle(folder, journal, index, clock)
            isNew = true
        }
        let knowsAll = try index.knowsAllFiles()
        needsScan = isNew || lock.wasCutOff || isCut || !knowsAll
        // Whoever is ended before all has been looked through leaves the rest to the next start.
        if needsScan, knowsAll {
            try Self.withRoom(folder, ballast, limits) { () throws(DiskCacheError) in
                try index.setKnowsAllFiles(false)
            }
        }
        // What the index knew to be superseded may not have reached the disk.
        if lock.wasCutOff || isCut { try Self.withRoom(folder, ballast, limits, index.beginEpoch) }
        ballast.fill()
        if isNew, folder.hasEntries { monitor.tell(.indexReplaced) }
    }

    /// Does a step of the start that needs some room; on a full disk again, in that of the ballast, or else of entries.
    private static func withRoom<Value>(
        _ folder: DiskFolder, _ ballast: Ballast, _ limits: DiskCacheConfiguration.Limits,
        _ step: () throws(DiskCacheError) -> Value
    ) throws(DiskCacheError) -> Value {
        do {
            return try step()
        } catch .full {
            if ballast.release() {
                do { return try step() } catch .full {}
            }
            try folder.makeRoom(for: max(limits.ballast.bytes, minRoom))
            return try step()
        }
    }

    /// What a start needs at most: the index's shared memory and some pages, in bytes.
    private static let minRoom = 1 << 20

    /// Sets the index right about the entries of the last batch, whatever became of it.
    ///
    /// The interleavings of a crash, per entry: 1. before linkat: an older file or none is there, and the index may know it;
    /// 2. between linkat and rename: the entry's `.new` is left over; 3. before the index's commit: the file is there and
    /// the index knows nothing of it, or only of the older one. So: remove the `.new`, and tell the index what is there.
    private static func settle(
        _ folder: DiskFolder, _ journal: CommitJournal, _ index: DiskIndex, _ clock: () -> Int64
    ) throws(DiskCacheError) {
        let block = try journal.read()
        var changes: [IndexChange] = []
        for id in block.entries {
            try folder.unlink(id, .new)
            changes.append(try adoption(of: id, in: folder, at: clock()).map { .put($0) } ?? .delete(id))
        }
        if block.removesEverything {
            try folder.discardEverything()
            changes = [.deleteEverything]
        }
        if !changes.isEmpty { _ = try index.apply(changes, durable: false) }
        try journal.write(CommitJournal.Block())
    }

    /// What the index has to know of an entry's file; nil when there is none, or none that is valid: then it is gone now.
    func adoption(of id: EntryID) throws(DiskCacheError) -> IndexEntry? {
        try Self.adoption(of: id, in: folder, at: clock())
    }

    private static func adoption(
        of id: EntryID, in folder: DiskFolder, at now: Int64
    ) throws(DiskCacheError) -> IndexEntry? {
        guard case .file(let file) = try folder.open(id, fromMemory: false) else { return nil }
        guard let entry = try EntryFile(file: file, status: folder.status(of: file)).header(), entry.id == id
        else {
            try folder.unlink(id)
            return nil
        }
        return IndexEntry(
            id: id, sourceKey: entry.description.sourceKey, bytes: entry.fileLength,
            storedAt: entry.description.storedAt, accessedAt: now)
    }
}
