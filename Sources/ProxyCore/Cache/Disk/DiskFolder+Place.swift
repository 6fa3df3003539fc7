// SPDX-License-Identifier: Apache-2.0

import Bodies
import CLinux
import Glibc

extension DiskFolder {
    /// With fewer free bytes than this, a failed write counts as a full disk.
    private static let scarceBytes: UInt64 = 64 << 20
    /// Likewise, inodes.
    private static let scarceInodes: UInt64 = 64
    /// What a start or a purge needs at most: some pages of the index's log, in bytes.
    private static let neededBytes: Int64 = 1 << 20
    /// And files, where their number is limited: those of the index, and one that is stored.
    private static let neededFiles = 8

    /// Whether the file system is nearly full, as far as it reports; a quota may be exhausted before. One without
    /// an inode table has plenty of inodes.
    var isNearlyFull: Bool {
        var facts = statvfs()
        guard unsafe fstatvfs(root.raw, &facts) == 0 else { return false }
        let bytes = UInt64(facts.f_bavail) * UInt64(facts.f_frsize)
        return bytes < Self.scarceBytes || facts.f_files != 0 && UInt64(facts.f_favail) < Self.scarceInodes
    }

    /// Removes what was discarded, and as many entries' files, whichever they are, as take the space of some changes of the
    /// index: where a start or a purge needs space on a full disk, nothing may be known yet of their ages.
    ///
    /// Counts what it removes: the file system may report free space that a quota forbids, and another program may
    /// take what is freed.
    func removeRandomEntries() throws(DiskCacheError) {
        while try emptyTrash() {}
        var (bytes, files) = (Int64(0), 0)
        for shard in Shard.all.shuffled() {
            for name in try names(in: shard.path) {
                let path = "\(shard.path)/\(name)"
                (bytes, files) = (bytes + allocatedBytes(path), files + 1)
                try removeFile(path)
                if bytes >= Self.neededBytes, files >= Self.neededFiles { return }
            }
        }
    }

    // MARK: - The tier's own files

    /// Opens a file of the tier's own, and creates it; a folder or a pipe in its place is removed.
    func openRegularFile(_ name: String) throws(DiskCacheError) -> OwnedDescriptor {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        for _ in 0..<2 {
            let descriptor = unsafe linux_openat(root.raw, name, flags, Self.fileMode)
            let code = errno
            if descriptor >= 0 {
                let file = OwnedDescriptor(owning: descriptor)
                if try file.identity().size >= 0 { return file }
            } else if code != EISDIR, code != ELOOP, code != ENXIO {
                throw DiskCacheError("open \(name)", code: code)
            }
            try removeFile(name)
        }
        throw .invalid("\(name) is no file, and can't be made one")
    }

    /// Whether the folder's path still leads to a file that is open, under this name.
    func holds(_ file: OwnedDescriptor, as name: String) -> Bool {
        var (there, here) = (stat(), stat())
        guard unsafe fstatat(AT_FDCWD, "\(path)/\(name)", &there, AT_SYMLINK_NOFOLLOW) == 0,
            unsafe fstat(file.raw, &here) == 0
        else { return false }
        return there.st_ino == here.st_ino && there.st_dev == here.st_dev
    }
}
