// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite

extension DiskIndex {
    /// Has SQLite keep the WAL's index in memory of the process, not in a file that is mapped.
    ///
    /// Somebody who cuts a mapped file short ends the process by SIGBUS; and a full disk has no room for one. Locks are
    /// then held as long as the database is open, which is as it should be: the folder has one daemon.
    static let usesOwnMemory: Bool = {
        let system = unsafe sqlite3_vfs_find("unix-excl")
        return unsafe system != nil && sqlite3_vfs_register(system, 1) == SQLITE_OK
    }()

    /// What SQLite keeps beside the database.
    private static let companions = ["", "-wal", "-shm"]
    /// Put behind the name of an index that cannot be used; an earlier one is replaced.
    private static let brokenSuffix = ".broken"

    /// Opens the folder's index; where it cannot be used, sets it aside and begins a new one.
    ///
    /// - Returns: the index, and whether it is new, so that the files have to be looked through.
    /// - Throws: `full` and what no new index would heal.
    static func openOrRebuild(
        in folder: DiskFolder, configuration: DiskCacheConfiguration
    ) throws(DiskCacheError) -> (DiskIndex, isNew: Bool) {
        let path = "\(folder.path)/\(fileName)"
        let isNew = !folder.hasFile(fileName)
        do {
            return (try DiskIndex(path: path, configuration: configuration), isNew)
        } catch  where !isNew && error.mayBeHealedByNewIndex {
            // SQLite calls a missing page of its shared memory an I/O error; a sound index is not set aside for that.
            guard !folder.isNearlyFull else { throw .full }
            try setAside(in: folder)
            return (try DiskIndex(path: path, configuration: configuration), true)
        }
    }

    /// Moves the index out of the way.
    static func setAside(in folder: DiskFolder) throws(DiskCacheError) {
        for companion in companions {
            try folder.rename(fileName + companion, to: fileName + brokenSuffix + companion)
        }
    }
}

extension DiskCacheError {
    fileprivate var mayBeHealedByNewIndex: Bool {
        switch self {
        case .index, .brokenIndex: true
        default: false
        }
    }
}
