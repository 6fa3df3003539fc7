// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension DiskWriter {
    /// Checks whether the folder, the lock or the index was removed; to be called now and then.
    func checkPlace() {
        guard !parts.isOff, isInPlace, parts.folder.hasFile(DiskIndex.fileName) else {
            return parts.monitor.lostFolder()
        }
    }

    private var isInPlace: Bool { parts.folder.isInPlace && parts.lock.isInPlace(in: parts.folder) }

    /// Starts anew in the folder as it is now, with a new index of the files that are there.
    ///
    /// Look-ups continue meanwhile: until everything has been scanned, they query the file system. Returns
    /// false if there is nothing to recover from, the start is still reading the index, or another daemon has
    /// the folder.
    func recover() throws(DiskCacheError) -> Bool {
        guard parts.monitor.wantsRecovery, housekeeping.withLock({ $0.loading != .underway }) else {
            return false
        }
        // A failure is detected again by the next check or the next store.
        parts.monitor.recovered()
        let isElsewhere = parts.isOff || !isInPlace
        if isElsewhere, try !attach() { return false }
        parts.index.detach()
        try DiskIndex.setAside(in: parts.folder)
        try parts.index.open()
        parts.index.blockSize.store(parts.folder.blockSize, ordering: .relaxed)
        try parts.index.noteLostLinks()
        // Memory still holds the results of the known tags.
        let links = parts.tags.all
        parts.tags.removeAll()
        try apply(links.map { .link($0, at: parts.clock()) })
        parts.tags.insert(links)
        // The new index has generations of its own: no earlier file counts.
        parts.index.outdated.markComplete()
        parts.entries.markIncomplete()
        parts.entries.removeAll()
        parts.counters.resetTally()
        housekeeping.withLock { state in
            (state.scan, state.names, state.loading, state.hasTrash) = (DiskFolder.Shard.all, [], .done, true)
            state.unreadable = []
        }
        parts.switchOn()
        parts.ballast.fill()
        parts.monitor.report(isElsewhere ? .folderReplaced : .indexReplaced)
        return true
    }

    /// Opens the folder that the path leads to now; first its lock, since until then it may be another
    /// daemon's.
    ///
    /// - Returns: false if it is: then the tier is off until a later try.
    private func attach() throws(DiskCacheError) -> Bool {
        do throws(DiskCacheError) {
            let root = try parts.folder.openPlace()
            let lock = try FolderLock.take(in: root, path: parts.folder.path)
            try parts.folder.reattach(to: root)
            try parts.lock.hold(lock)
            return true
        } catch .locked(let path) {
            switchOff(because: .locked(path))
            return false
        } catch  where parts.isOff {
            // It was reported when the tier was switched off.
            return false
        }
    }

    /// Stores nothing and finds nothing from now on, in a folder that is another daemon's.
    private func switchOff(because error: DiskCacheError) {
        guard !parts.isOff else { return }
        parts.switchOff(because: error)
        parts.index.detach()
        parts.entries.removeAll()
        parts.entries.markComplete()
        parts.counters.resetTally()
        parts.counters.failedToWrite()
        housekeeping.withLock { state in
            (state.scan, state.names, state.unreadable, state.hasTrash) = ([], [], [], false)
            state.loading = .done
        }
        parts.monitor.failed(with: error)
    }

    /// Runs a job while the tier is off: nothing can be removed, and nothing is stored. Tags are recorded,
    /// since memory still holds their results.
    func runOff(_ job: WriteJob, because error: DiskCacheError) {
        switch job.task {
        case .commit, .store, .secure, .save:
            parts.counters.failedToWrite()
            parts.monitor.failed(with: error)
            job.completion?(.failure(error))
        case .sweep: beginSweep(job.completion)
        case .link(let links):
            // No index has them meanwhile: a result that its tag does not find must not be stored.
            let isInserted = parts.tags.insertUnlessFull(links)
            job.completion?(isInserted ? .success(1) : .failure(error))
        case .removeTag(let tag, let found):
            let links = parts.tags.links(of: tag)
            parts.tags.remove(links)
            found(links)
            job.completion?(.success(0))
        case .removeAll(let keepingTags):
            if !keepingTags { parts.tags.removeAll() }
            job.completion?(.success(0))
        case .remove, .discard, .removeSource, .nothing: job.completion?(.success(0))
        }
    }

    // MARK: - Scanning the folder

    /// Scans some more files of a folder that the index may not know completely; false if there are none.
    func stepScan() throws(DiskCacheError) -> Bool {
        guard let shard = housekeeping.withLock({ $0.loading == .done ? $0.scan.last : nil }) else {
            return false
        }
        do throws(DiskCacheError) {
            try step(through: shard)
        } catch  where error.isOfOneFile {
            housekeeping.withLock { state in
                state.names = []
                state.scan.removeLast()
            }
            postpone(shard, because: error)
        }
        if housekeeping.withLock({ $0.scan.isEmpty && $0.unreadable.isEmpty }) {
            parts.entries.markComplete()
            try parts.index.setKnowsAllFiles(true)
        }
        return true
    }

    private func step(through shard: DiskFolder.Shard) throws(DiskCacheError) {
        if housekeeping.withLock({ $0.names.isEmpty }) {
            let names = try parts.folder.names(in: shard.path)
            housekeeping.withLock { $0.names = names }
        }
        let limit = parts.configuration.limits.batchSize
        let some = housekeeping.withLock { Array($0.names.suffix(limit)) }
        // Files that could not be read are read again later.
        if let failure = try adopt(some, in: shard) { postpone(shard, because: failure) }
        housekeeping.withLock { state in
            state.names.removeLast(some.count)
            if state.names.isEmpty { state.scan.removeLast() }
        }
    }

    /// Scans a folder again after the next sweep: what can't be read must block neither the scan of the rest
    /// nor the sweep.
    private func postpone(_ shard: DiskFolder.Shard, because error: DiskCacheError) {
        parts.counters.failedToRead()
        let isFirst = housekeeping.withLock { state in
            defer { state.whyUnreadable = error }
            if state.unreadable.last?.path != shard.path { state.unreadable.append(shard) }
            return state.whyUnreadable == nil
        }
        if isFirst { parts.monitor.failed(with: error) }
    }

    /// Completes the scan, for a purge, which must not miss a file.
    /// - Throws: why a folder can't be scanned.
    func finishScan() throws(DiskCacheError) {
        while try stepScan() {}
        if let error = housekeeping.withLock({ $0.unreadable.isEmpty ? nil : $0.whyUnreadable }) {
            throw error
        }
    }

    /// Adds unknown files to the index, and removes what is not an entry; returns why some could not be read.
    private func adopt(
        _ names: [String], in shard: DiskFolder.Shard
    ) throws(DiskCacheError) -> DiskCacheError? {
        var failure: DiskCacheError?
        var changes: [IndexChange] = []
        var adopted: [EntryID] = []
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
                adopted.append(id)
                changes.append(.put(entry))
            } catch  where error.isOfOneFile {
                failure = error
            }
        }
        try apply(changes)
        for id in adopted { parts.entries.insert(id) }
        return failure
    }
}
