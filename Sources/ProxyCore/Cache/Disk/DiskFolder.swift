// SPDX-License-Identifier: Apache-2.0

import Bodies
import CLinux
import Glibc

/// The folder of the disk tier as the file system sees it: where an entry's file lies, and how it is created.
///
/// An entry lies at `originals/ab/abcd…`, or below `results`, `intermediates` or `derived`, named by its key, so
/// that a look-up needs nothing else. Entries and listings are relative to one open descriptor of the folder;
/// staging, and the index in it, use its path. Blocking; safe from any thread, but only one thread may link
/// and unlink.
final class DiskFolder: Sendable {
    /// The relevant members of a file's inode.
    struct Status {
        /// The size in bytes; below 0 for anything but a file.
        let size: Int64
        /// Changes with every change of the file.
        let identity: VerifiedFiles.Identity
    }

    /// The folder's path.
    let path: String
    /// The folder itself.
    let root: OwnedDescriptor

    static let privateMode: mode_t = 0o700
    static let fileMode: mode_t = 0o600
    /// Whatever lies in an entry's place: opening it must neither wait for a writer nor follow a link.
    private static let readFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW

    /// Opens the folder.
    /// - Parameter creates: whether it is created, readable by its owner alone, if it does not exist.
    init(path: String, creates: Bool = true) throws(DiskCacheError) {
        self.path = path
        let refusal = creates ? try Self.create(path) : nil
        let descriptor = unsafe linux_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard descriptor >= 0 else {
            let code = errno
            let error = DiskCacheError("open \(path)", code: code)
            throw code == ENOENT ? refusal ?? error : error
        }
        root = OwnedDescriptor(owning: descriptor)
    }

    /// - Returns: why the first folder that can't be created is refused; the error, if the last one is missing.
    private static func create(_ path: String) throws(DiskCacheError) -> DiskCacheError? {
        var refusal: DiskCacheError?
        var partial = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            partial += part + "/"
            guard unsafe mkdir(partial, privateMode) < 0, errno != EEXIST else { continue }
            // A folder above may be one that is not writable; what counts is whether the tier's folder
            // exists.
            let code = errno
            let error = DiskCacheError("mkdir \(partial)", code: code)
            guard [EACCES, EROFS, EPERM].contains(code) || code == ENOENT && refusal != nil else {
                throw error
            }
            refusal = refusal ?? error
        }
        return refusal
    }

    // MARK: - Reading

    /// Opens an entry's file; nil if there is none.
    ///
    /// - Parameters:
    ///   - fromMemory: answer only from what the kernel has in memory (openat2(2), RESOLVE_CACHED).
    ///   - files: counts the file, because clients are answered from it.
    /// - Throws: `wouldBlock`; `overloaded` if too many files are open; the call that failed.
    func open(
        _ id: EntryID, fromMemory: Bool, countedBy files: BodyFiles? = nil
    ) throws(DiskCacheError) -> OwnedDescriptor? {
        guard files?.enter() ?? true else { throw .overloaded }
        let (descriptor, code) = unsafe EntryPath.with(id) { path in
            let result =
                fromMemory
                ? unsafe linux_open_cached(root.raw, path)
                : unsafe linux_openat(root.raw, path, Self.readFlags, 0)
            return (result, errno)
        }
        if descriptor >= 0 { return OwnedDescriptor(owning: descriptor, countedBy: files) }
        files?.leave()
        switch code {
        // A link or a socket in an entry's place is not the tier's; the next store removes it.
        case ENOENT, ENOTDIR, ELOOP, ENXIO: return nil
        case EAGAIN, ENOSYS: throw .wouldBlock
        default: throw DiskCacheError("openat", code: code)
        }
    }

    /// The status of an entry's file; nil if there is no file.
    func status(of id: EntryID) throws(DiskCacheError) -> Status? {
        var status = stat()
        let code = unsafe EntryPath.with(id) { path in
            unsafe fstatat(root.raw, path, &status, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno
        }
        switch code {
        case 0: return Status(status)
        case ENOENT, ENOTDIR: return nil
        default: throw DiskCacheError("fstatat", code: code)
        }
    }

    // MARK: - Space

    /// The size of the file system's blocks in bytes: a file takes a multiple of it.
    var blockSize: Int64 {
        var facts = statvfs()
        guard unsafe fstatvfs(root.raw, &facts) == 0 else { return Self.usualBlockSize }
        return min(max(Int64(facts.f_frsize), Self.smallestBlockSize), Self.largestBlockSize)
    }

    private static let usualBlockSize: Int64 = 4_096
    private static let smallestBlockSize: Int64 = 512
    private static let largestBlockSize: Int64 = 1 << 20
    /// The unit of `st_blocks`, in bytes (stat(3type)).
    private static let statBlockSize: Int64 = 512

    /// How many bytes of the disk a file or folder below this one takes, without its contents; 0 if there is
    /// none.
    func allocatedBytes(_ path: String) -> Int64 {
        var status = stat()
        guard unsafe fstatat(root.raw, path, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return 0 }
        return Int64(status.st_blocks) * Self.statBlockSize
    }

    // MARK: - Writing

    /// Opens a file without a name; it is deleted with its last descriptor unless `link` names it.
    /// - Parameter files: counts the file, because clients may be answered from it.
    func stage(countedBy files: BodyFiles? = nil) throws(DiskCacheError) -> OwnedDescriptor {
        guard files?.enter() ?? true else { throw .overloaded }
        let descriptor = unsafe linux_open_unnamed(path, Self.fileMode)
        guard descriptor >= 0 else {
            let code = errno
            files?.leave()
            guard code != EOPNOTSUPP, code != EISDIR else { throw .unsupported("unnamed files (O_TMPFILE)") }
            throw DiskCacheError("open O_TMPFILE", code: code)
        }
        return OwnedDescriptor(owning: descriptor, countedBy: files)
    }

    /// Names a staged file as an entry's, atomically and in place of an earlier one.
    ///
    /// linkat(2) replaces nothing, so over an earlier file it takes two steps, by way of the entry's `.new`;
    /// a process that is killed in between leaves that behind, and the next start removes it.
    func link(_ file: OwnedDescriptor, as id: EntryID) throws(DiskCacheError) {
        var code = linkCode(file, id)
        if code == ENOENT {
            try createShard(of: id)
            code = linkCode(file, id)
        }
        switch code {
        case 0: return
        case EEXIST: try replace(id, with: file)
        default: throw DiskCacheError("linkat", code: code)
        }
    }

    private func linkCode(
        _ file: OwnedDescriptor, _ id: EntryID, as depth: EntryPath.Depth = .file
    ) -> Int32 {
        unsafe EntryPath.with(id, upTo: depth) {
            unsafe linux_link_unnamed(file.raw, root.raw, $0) == 0 ? 0 : errno
        }
    }

    private func replace(_ id: EntryID, with file: OwnedDescriptor) throws(DiskCacheError) {
        try unlink(id, .newFile)
        let code = linkCode(file, id, as: .newFile)
        guard code == 0 else { throw DiskCacheError("linkat", code: code) }
        var renamed = renameNew(id)
        if renamed == EISDIR {
            try unlink(id)
            renamed = renameNew(id)
        }
        guard renamed == 0 else { throw DiskCacheError("renameat", code: renamed) }
    }

    private func renameNew(_ id: EntryID) -> Int32 {
        unsafe EntryPath.with(id, upTo: .newFile) { from in
            unsafe EntryPath.with(id) { to in
                unsafe renameat(root.raw, from, root.raw, to) == 0 ? 0 : errno
            }
        }
    }

    private func createShard(of id: EntryID) throws(DiskCacheError) {
        for depth in [EntryPath.Depth.kind, .shard] {
            let code = unsafe EntryPath.with(id, upTo: depth) {
                unsafe mkdirat(root.raw, $0, Self.privateMode) == 0 ? 0 : errno
            }
            guard code == 0 || code == EEXIST else { throw DiskCacheError("mkdirat", code: code) }
        }
    }

    /// Removes an entry's file; false if there is none.
    @discardableResult
    func unlink(_ id: EntryID, _ depth: EntryPath.Depth = .file) throws(DiskCacheError) -> Bool {
        let code = unsafe EntryPath.with(id, upTo: depth) {
            unsafe unlinkat(root.raw, $0, 0) == 0 ? 0 : errno
        }
        switch code {
        case 0: return true
        case ENOENT, ENOTDIR: return false
        case EISDIR:
            let code = unsafe EntryPath.with(id, upTo: depth) { unsafe removeStrangeFolder($0) }
            guard code == 0 else { throw DiskCacheError("rmdir", code: code) }
            return true
        default: throw DiskCacheError("unlinkat", code: code)
        }
    }

    /// Removes a folder that lies in a file's place; one that is not empty is renamed.
    func removeStrangeFolder(_ path: UnsafePointer<CChar>) -> Int32 {
        guard unsafe unlinkat(root.raw, path, AT_REMOVEDIR) != 0, errno != ENOENT else { return 0 }
        let other = "strange-\(UInt64.random(in: 0 ... .max))"
        return unsafe renameat(root.raw, path, root.raw, other) == 0 ? 0 : errno
    }

    /// Waits until the names on the way to an entry's file are on the disk.
    func syncNames(of id: EntryID) throws(DiskCacheError) {
        for depth in [EntryPath.Depth.shard, .kind] {
            let descriptor = unsafe EntryPath.with(id, upTo: depth) {
                unsafe linux_openat(root.raw, $0, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
            }
            guard descriptor >= 0 else { throw DiskCacheError("openat", code: errno) }
            try OwnedDescriptor(owning: descriptor).sync()
        }
        try root.sync()
    }
}

extension DiskFolder.Status {
    fileprivate init(_ status: stat) {
        size = status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : -1
        identity = VerifiedFiles.Identity(status)
    }
}

extension OwnedDescriptor {
    /// What the inode of this file says.
    func status() throws(DiskCacheError) -> DiskFolder.Status {
        var status = stat()
        guard unsafe fstat(raw, &status) == 0 else { throw DiskCacheError("fstat", code: errno) }
        return DiskFolder.Status(status)
    }

    /// Makes this descriptor refer to another open file, atomically; the earlier one is closed.
    ///
    /// Its number stays, so a call that uses it at this moment gets the one file or the other.
    func become(_ other: OwnedDescriptor) throws(DiskCacheError) {
        guard linux_dup3(other.raw, raw, O_CLOEXEC) >= 0 else { throw DiskCacheError("dup3", code: errno) }
    }
}

extension VerifiedFiles.Identity {
    fileprivate init(_ status: stat) {
        inode = UInt64(status.st_ino)
        changed = Int64(status.st_ctim.tv_sec) * 1_000_000_000 + Int64(status.st_ctim.tv_nsec)
        size = Int64(status.st_size)
    }

    /// Hot path: the status of an open file; nil if the file has no name any more, or fstat(2) fails.
    init?(of file: OwnedDescriptor) {
        var facts = stat()
        guard unsafe fstat(file.raw, &facts) == 0, facts.st_nlink > 0 else { return nil }
        self.init(facts)
    }
}
