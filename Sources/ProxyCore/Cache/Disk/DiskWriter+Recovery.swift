// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension DiskWriter {
    /// Looks whether somebody took the folder, the lock or the index away; to be called now and then.
    func checkPlace() {
        let parts = self.parts
        guard !parts.isOff, parts.folder.isInPlace, parts.lock.isInPlace(in: parts.folder),
            parts.folder.hasFile(DiskIndex.fileName)
        else { return parts.monitor.lostFolder() }
    }

    /// Begins anew in the folder as it is now, with a new index of the files that are there.
    ///
    /// Look-ups go on meanwhile: until everything has been looked through, they ask the file system. Returns false when
    /// there is nothing to recover from, the start is still reading the index, or another daemon has the folder.
    func recover() throws(DiskCacheError) -> Bool {
        guard parts.monitor.wantsRecovery, housekeeping.withLock({ $0.loading != .underway }) else {
            return false
        }
        // A failure is met again by the next check or the next store.
        parts.monitor.recovered()
        let isElsewhere =
            parts.isOff || !parts.folder.isInPlace || !parts.lock.isInPlace(in: parts.folder)
        if isElsewhere, try !attach() { return false }
        // What a damaged index does not tell any more is lost, and purges by tag say so.
        let links = isElsewhere ? nil : try? parts.index.latestLinks(limit: Self.mostCarried)
        try DiskIndex.setAside(in: parts.folder)
        try parts.index.reopen()
        parts.index.blockSize.store(parts.folder.blockSize, ordering: .relaxed)
        // First: the links' own transaction raises the count by which a start would know that some are lost.
        if links?.count ?? Self.mostCarried >= Self.mostCarried { try parts.index.noteLostLinks() }
        try tellIndexOfTags(and: links ?? [])
        try parts.revocations.write(parts.index.revocations.load(ordering: .acquiring), durable: false)
        // The new index has an epoch of its own: no file of before is believed.
        parts.index.superseded.markComplete()
        parts.entries.markIncomplete()
        parts.entries.removeAll()
        parts.counters.resetTally()
        housekeeping.withLock { state in
            (state.scan, state.names, state.loading, state.hasTrash) = (DiskFolder.Shard.all, [], .done, true)
            state.unreadable = []
        }
        parts.switchOn()
        parts.ballast.fill()
        parts.monitor.tell(isElsewhere ? .folderReplaced : .indexReplaced)
        return true
    }

    /// Most links that a new index takes over from the one in whose place it comes.
    private static let mostCarried = 65_536

    /// Takes the folder that is in the place now; first its lock, for until then it is another daemon's.
    ///
    /// - Returns: false where it stays that: then the tier is off until a later try.
    private func attach() throws(DiskCacheError) -> Bool {
        do throws(DiskCacheError) {
            let root = try parts.folder.openPlace()
            let lock = try FolderLock.take(in: root, path: parts.folder.path)
            let journal = try parts.journal.open(in: root)
            let revocations = try RevocationCount.open(in: root)
            try parts.folder.reattach(to: root)
            try parts.lock.hold(lock)
            try parts.journal.reattach(to: journal)
            try parts.revocations.reattach(to: revocations)
            return true
        } catch .locked(let path) {
            switchOff(because: .locked(path))
            return false
        } catch  where parts.isOff {
            // It was said when it was switched off.
            return false
        }
    }

    /// Keeps nothing and finds nothing from now on, in a folder that is no longer ours.
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

    /// Writes the tags that are known into a new index, and those of the earlier one: they hang on what memory holds, too.
    private func tellIndexOfTags(and others: [TagLink]) throws(DiskCacheError) {
        let links = Array(Set(parts.tags.all).union(others))
        parts.tags.removeAll()
        try apply(links.map { .link($0, at: parts.clock()) })
        parts.tags.insert(links)
    }

    // MARK: - While the tier is off

    /// Does a job without the disk: nothing is there to be removed, and nothing is stored. Tags are remembered, for memory
    /// goes on holding what they hang on.
    func runOff(_ job: WriteJob, because error: DiskCacheError) {
        switch job.task {
        case .commit, .store, .secure, .save, .saveLate:
            parts.counters.failedToWrite()
            parts.monitor.failed(with: error)
            job.completion?(.failure(error))
        case .sweep: beginSweep(job.completion)
        case .link(let links):
            // Nobody else knows them meanwhile: what is not found by its tag must not be kept.
            let hasRoom = parts.tags.insertIfRoom(links)
            job.completion?(hasRoom ? .success(1) : .failure(error))
        case .removeTag(let tag, let found):
            let links = parts.tags.links(of: tag)
            parts.tags.remove(links)
            found(links)
            job.completion?(.success(0))
        case .removeAll(let keepingTags):
            if !keepingTags { parts.tags.removeAll() }
            job.completion?(.success(0))
        case .remove, .discard, .removeRecord, .removeSource, .nothing: job.completion?(.success(0))
        }
    }
}
