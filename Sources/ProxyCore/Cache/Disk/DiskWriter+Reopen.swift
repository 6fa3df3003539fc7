// SPDX-License-Identifier: Apache-2.0

import Primitives
import Synchronization

/// How the tier starts anew while it is in use: in a folder that was replaced, or with a new index.
extension DiskWriter {
    /// Checks whether the folder, the lock or the index was removed; to be called now and then.
    func checkPlace() {
        guard !storage.isOff, isInPlace, storage.folder.hasFile(DiskIndex.fileName),
            storage.index.writer.withLock({ $0 != nil })
        else { return storage.health.withLock { $0.mustReopen = true } }
    }

    /// Whether the path leads to the lock that is held, and so to the folder that is open.
    private var isInPlace: Bool { storage.lock.isInPlace(in: storage.folder) }

    /// Starts anew in the folder as it is now, with a new index of the files that are there.
    ///
    /// Look-ups continue meanwhile: until everything has been scanned, they query the file system. Returns
    /// false if there is nothing to recover from, or another daemon has the folder.
    func reopen() throws(DiskCacheError) -> Bool {
        guard storage.health.withLock(\.mustReopen) else { return false }
        // A failure is detected again by the next check or the next store.
        storage.health.withLock { $0.mustReopen = false }
        let isElsewhere = storage.isOff || !isInPlace
        if isElsewhere, try !attach() { return false }
        try storage.index.setAside(in: storage.folder)
        try storage.withSpace { () throws(DiskCacheError) in
            try storage.index.open(blockSize: storage.folder.blockSize)
        }
        // Memory still holds the results of the known tags.
        let links = storage.tags.all
        storage.tags.removeAll()
        let now = storage.clock()
        try apply(links.map { link in { try $0.link(link, at: now) } })
        storage.tags.insert(links)
        // The new index has generations of its own: no earlier file counts.
        storage.index.outdated.markComplete()
        storage.entries.markComplete(false)
        forgetEntries(scanning: DiskFolder.Shard.all)
        storage.outage.withLock { $0 = nil }
        storage.onEvent(isElsewhere ? .folderReplaced : .indexReplaced)
        return true
    }

    private func forgetEntries(scanning shards: [DiskFolder.Shard]) {
        storage.entries.removeAll()
        storage.counters.withLock { $0.tally = DiskTally() }
        (scan, hasTrash) = (FolderScan(of: shards), !shards.isEmpty)
    }

    /// Opens the folder that the path leads to now; first its lock, since until then it may be another
    /// daemon's.
    ///
    /// - Returns: false if it is: then the tier is off until a later try.
    private func attach() throws(DiskCacheError) -> Bool {
        do throws(DiskCacheError) {
            let folder = try DiskFolder(path: storage.folder.path)
            let lock = try FolderLock(folder: folder, lockTimeout: .seconds(0))
            try lock.markInUse()
            try storage.folder.root.replace(by: folder.root)
            try storage.lock.replace(by: lock)
            return true
        } catch .locked(let path) where !storage.isOff {
            // The folder is another daemon's: nothing is stored and nothing found from now on.
            storage.outage.withLock { $0 = .locked(path) }
            storage.index.close()
            forgetEntries(scanning: [])
            storage.entries.markComplete()
            storage.failed(with: .locked(path))
            return false
        } catch  where storage.isOff {
            // It was reported when the tier was switched off.
            return false
        }
    }
}
