// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension DiskWriter {
    /// Looks whether somebody took the folder, the lock or the index away; to be called now and then.
    func checkPlace() {
        let parts = self.parts
        guard parts.folder.isInPlace, parts.lock.isInPlace(in: parts.folder),
            parts.folder.hasFile(DiskIndex.fileName)
        else { return parts.monitor.lostFolder() }
    }

    /// Begins anew in the folder as it is now, with a new index of the files that are there.
    ///
    /// Look-ups go on meanwhile: until everything has been looked through, they ask the file system. Returns false when
    /// there is nothing to recover from, or the start is still reading the index.
    func recover() throws(DiskCacheError) -> Bool {
        guard parts.monitor.wantsRecovery, housekeeping.withLock({ $0.loading != .underway }) else {
            return false
        }
        // A failure is met again by the next check or the next store.
        parts.monitor.recovered()
        let isElsewhere = !parts.folder.isInPlace || !parts.lock.isInPlace(in: parts.folder)
        if isElsewhere {
            try parts.folder.reattach()
            try parts.lock.reattach(to: parts.folder)
            try parts.journal.reattach(to: parts.folder)
        }
        try DiskIndex.setAside(in: parts.folder)
        try parts.index.reopen()
        // The new index has an epoch of its own: no file of before is believed.
        parts.index.superseded.markComplete()
        parts.entries.markIncomplete()
        parts.entries.removeAll()
        parts.counters.resetTally()
        housekeeping.withLock { state in
            (state.scan, state.names, state.loading, state.hasTrash) = (DiskFolder.Shard.all, [], .done, true)
        }
        parts.ballast.fill()
        parts.monitor.tell(isElsewhere ? .folderReplaced : .indexReplaced)
        return true
    }
}
