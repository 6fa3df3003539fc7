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
        var refusal: DiskCacheError?
        var partial = path.hasPrefix("/") ? "/" : ""
        for part in creates ? path.split(separator: "/") : [] {
            partial += part + "/"
            // A folder above may be one that is not writable; what counts is whether the tier's folder exists.
            guard unsafe mkdir(partial, Self.privateMode) < 0, errno != EEXIST else { continue }
            refusal = refusal ?? DiskCacheError("mkdir \(partial)", code: errno)
        }
        let descriptor = unsafe linux_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard descriptor >= 0 else {
            let error = DiskCacheError("open \(path)", code: errno)
            throw refusal ?? error
        }
        root = OwnedDescriptor(owning: descriptor)
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

    /// The identity of an entry's file; nil if there is none.
    func identity(of id: EntryID) throws(DiskCacheError) -> VerifiedFiles.Identity? {
        var status = stat()
        let code = unsafe EntryPath.with(id) { path in
            unsafe fstatat(root.raw, path, &status, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno
        }
        switch code {
        case 0: return VerifiedFiles.Identity(status)
        case ENOENT, ENOTDIR: return nil
        default: throw DiskCacheError("fstatat", code: code)
        }
    }

    // MARK: - Space

    /// The size of the file system's blocks in bytes: a file takes a multiple of it.
    var blockSize: Int64 {
        var facts = statvfs()
        return unsafe fstatvfs(root.raw, &facts) == 0 && facts.f_frsize > 0 ? Int64(facts.f_frsize) : 4_096
    }

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

    /// Names a staged file as an entry's, in place of an earlier one; returns whether there was one.
    ///
    /// linkat(2) replaces nothing, so an earlier file is removed before: in between, and if the process is killed
    /// there, the entry is a miss.
    @discardableResult
    func link(_ file: OwnedDescriptor, as id: EntryID) throws(DiskCacheError) -> Bool {
        let first = linkCode(file, id)
        if first == ENOENT { try createShard(of: id) }
        if first == EEXIST { try unlink(id) }
        let code = first == ENOENT || first == EEXIST ? linkCode(file, id) : first
        guard code == 0 else { throw DiskCacheError("linkat", code: code) }
        return first == EEXIST
    }

    private func linkCode(_ file: OwnedDescriptor, _ id: EntryID) -> Int32 {
        unsafe EntryPath.with(id) { unsafe linux_link_unnamed(file.raw, root.raw, $0) == 0 ? 0 : errno }
    }

    private func createShard(of id: EntryID) throws(DiskCacheError) {
        for path in Shard.folders(of: id) {
            guard unsafe mkdirat(root.raw, path, Self.privateMode) == 0 || errno == EEXIST else {
                throw DiskCacheError("mkdirat", code: errno)
            }
        }
    }

    /// Removes an entry's file; false if there is none.
    @discardableResult
    func unlink(_ id: EntryID) throws(DiskCacheError) -> Bool {
        try unsafe EntryPath.with(id) { unsafe remove($0) }.get()
    }

    /// Removes a file below this folder, or a folder in its place, which is renamed if it is not empty; false if there is none.
    @discardableResult
    func removeFile(_ path: String) throws(DiskCacheError) -> Bool { try unsafe remove(path).get() }

    private func remove(_ path: UnsafePointer<CChar>) -> Result<Bool, DiskCacheError> {
        guard unsafe unlinkat(root.raw, path, 0) != 0 else { return .success(true) }
        switch errno {
        case ENOENT, ENOTDIR: return .success(false)
        case EISDIR: break
        default: return .failure(DiskCacheError("unlinkat", code: errno))
        }
        guard unsafe unlinkat(root.raw, path, AT_REMOVEDIR) != 0, errno != ENOENT else {
            return .success(true)
        }
        let other = "strange-\(UInt64.random(in: 0 ... .max))"
        guard unsafe renameat(root.raw, path, root.raw, other) == 0 else {
            return .failure(DiskCacheError("renameat", code: errno))
        }
        return .success(true)
    }

    /// Waits until the names on the way to an entry's file are on the disk.
    func syncNames(of id: EntryID) throws(DiskCacheError) {
        for path in Shard.folders(of: id).reversed() {
            let descriptor = unsafe linux_openat(root.raw, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
            guard descriptor >= 0 else { throw DiskCacheError("openat", code: errno) }
            try OwnedDescriptor(owning: descriptor).sync()
        }
        try root.sync()
    }
}

extension OwnedDescriptor {
    func identity() throws(DiskCacheError) -> VerifiedFiles.Identity {
        var status = stat()
        guard unsafe fstat(raw, &status) == 0 else { throw DiskCacheError("fstat", code: errno) }
        return VerifiedFiles.Identity(status)
    }

    /// Makes this descriptor refer to another open file, atomically; the earlier one is closed.
    ///
    /// Its number stays, so a call that uses it at this moment gets the one file or the other.
    func replace(by other: OwnedDescriptor) throws(DiskCacheError) {
        guard linux_dup3(other.raw, raw, O_CLOEXEC) >= 0 else { throw DiskCacheError("dup3", code: errno) }
    }
}

extension VerifiedFiles.Identity {
    fileprivate init(_ status: stat) {
        inode = UInt64(status.st_ino)
        changed = Int64(status.st_ctim.tv_sec) * 1_000_000_000 + Int64(status.st_ctim.tv_nsec)
        size = status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : -1
    }

    /// Hot path: the status of an open file; nil if the file has no name any more, or fstat(2) fails.
    init?(of file: OwnedDescriptor) {
        var facts = stat()
        guard unsafe fstat(file.raw, &facts) == 0, facts.st_nlink > 0 else { return nil }
        self.init(facts)
    }
}
