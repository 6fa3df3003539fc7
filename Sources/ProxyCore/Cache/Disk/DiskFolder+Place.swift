// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

extension DiskFolder {
    /// Less than this and a body that could not be written is put down to a full disk, in bytes.
    private static let scarceBytes: UInt64 = 64 << 20
    /// Likewise, inodes.
    private static let scarceInodes: UInt64 = 64

    /// Whether the file system has hardly any room, as far as it tells; a quota may be exhausted before.
    var isNearlyFull: Bool {
        guard let facts = room else { return false }
        return facts.bytes < Self.scarceBytes || facts.inodes < Self.scarceInodes
    }

    /// What the file system has left for us; nil where it does not tell. File systems without inode tables have plenty.
    private var room: (bytes: UInt64, inodes: UInt64)? {
        var facts = statvfs()
        guard unsafe fstatvfs(root.raw, &facts) == 0 else { return nil }
        let inodes = facts.f_files == 0 ? UInt64.max : UInt64(facts.f_favail)
        return (UInt64(facts.f_bavail) * UInt64(facts.f_frsize), inodes)
    }

    /// Removes entries' files, whichever, until there is room for `bytes`; for a start on a disk without any.
    func makeRoom(for bytes: Int) throws(DiskCacheError) {
        for shard in Shard.all.shuffled() {
            guard let room, room.bytes < UInt64(bytes) || room.inodes < Self.scarceInodes else { return }
            for name in try names(in: shard.path) { try removeFile("\(shard.path)/\(name)") }
        }
    }

    // MARK: - A folder that is taken away

    /// Whether the folder's path still leads to the folder that is open.
    var isInPlace: Bool {
        var (there, here) = (stat(), stat())
        guard unsafe fstatat(AT_FDCWD, path, &there, 0) == 0, unsafe fstat(root.raw, &here) == 0 else {
            return false
        }
        return there.st_ino == here.st_ino && there.st_dev == here.st_dev
    }

    /// Whether a name in the folder still leads to a file that is open.
    func holds(_ file: OwnedDescriptor, as name: String) -> Bool {
        var (there, here) = (stat(), stat())
        guard unsafe fstatat(root.raw, name, &there, AT_SYMLINK_NOFOLLOW) == 0,
            unsafe fstat(file.raw, &here) == 0
        else { return false }
        return there.st_ino == here.st_ino && there.st_dev == here.st_dev
    }

    /// Opens what the path leads to now, a new folder if need be, in place of the folder that is open.
    ///
    /// The descriptor keeps its number, so whoever works with it at this moment has the one folder or the other.
    func reattach() throws(DiskCacheError) {
        try root.replace(by: Self.open(path))
    }
}

extension OwnedDescriptor {
    /// Makes this descriptor stand for another open file, at once; the earlier one is closed.
    func replace(by other: OwnedDescriptor) throws(DiskCacheError) {
        guard linux_dup3(other.raw, raw, O_CLOEXEC) >= 0 else { throw DiskCacheError("dup3", code: errno) }
    }
}
