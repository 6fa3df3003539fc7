// SPDX-License-Identifier: Apache-2.0

import Bodies
import CLinux
import Glibc
import Primitives

extension DiskFolder {
    /// A folder with the entries of one kind whose keys begin with the same two digits.
    struct Shard: Sendable {
        let kind: EntryKind
        /// The digits.
        let name: String

        /// Every such folder, whether it exists or not.
        static var all: [Shard] {
            let digits = Array("0123456789abcdef")
            return EntryKind.allCases.flatMap { kind in
                digits.flatMap { high in digits.map { Shard(kind: kind, name: "\(high)\($0)") } }
            }
        }

        /// The folders on the way to an entry's file, below the tier's folder.
        static func folders(of id: EntryID) -> [String] {
            let shard = Shard(kind: id.kind, name: String(id.key.description.prefix(2)))
            return ["\(EntryPath.folder(of: id.kind))", shard.path]
        }

        /// The path below the tier's folder.
        var path: String { "\(EntryPath.folder(of: kind))/\(name)" }
    }

    /// Where folders are moved that are to be emptied.
    private static let trashName = "trash"

    /// The names in a folder below this one; empty if it does not exist.
    func names(in path: String) throws(DiskCacheError) -> [String] {
        let descriptor = unsafe linux_openat(
            root.raw, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW, 0)
        guard descriptor >= 0 else {
            guard errno != ENOENT, errno != ENOTDIR, errno != ELOOP else { return [] }
            throw DiskCacheError("openat \(path)", code: errno)
        }
        guard let stream = unsafe fdopendir(descriptor) else {
            let code = errno
            close(descriptor)
            throw DiskCacheError("fdopendir", code: code)
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { buffer in
                unsafe String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// How many bytes of the disk the folders of entries take, and all files that are not entries.
    ///
    /// One fstatat(2) for each, some thousand.
    func overheadBytes() throws(DiskCacheError) -> Int64 {
        (try names(in: ".") + Shard.all.map(\.path)).reduce(allocatedBytes(".")) { $0 + allocatedBytes($1) }
    }

    // MARK: - Removing everything

    /// Makes every entry unreachable at once, by renaming the folders; `emptyTrash` removes them later.
    func discardEverything() throws(DiskCacheError) {
        guard unsafe mkdirat(root.raw, Self.trashName, Self.privateMode) == 0 || errno == EEXIST else {
            throw DiskCacheError("mkdirat trash", code: errno)
        }
        for kind in EntryKind.allCases {
            let target = "\(Self.trashName)/\(UInt64.random(in: 0 ... .max))"
            guard unsafe renameat(root.raw, "\(EntryPath.folder(of: kind))", root.raw, target) != 0 else {
                continue
            }
            guard errno == ENOENT else { throw DiskCacheError("renameat", code: errno) }
        }
    }

    /// Removes what was discarded, one folder of files per call; false when nothing is left.
    func emptyTrash() throws(DiskCacheError) -> Bool {
        guard let first = try names(in: Self.trashName).first else { return false }
        let discarded = "\(Self.trashName)/\(first)"
        guard let shard = try names(in: discarded).first.map({ "\(discarded)/\($0)" }) else {
            try removeFile(discarded)
            return true
        }
        for name in try names(in: shard) { try removeFile("\(shard)/\(name)") }
        try removeFile(shard)
        return true
    }

    // MARK: - The index's files

    /// Renames a file or folder, if it exists, and replaces what has the new name.
    func rename(_ name: String, to other: String) throws(DiskCacheError) {
        try removeFile(other)
        guard unsafe renameat(root.raw, name, root.raw, other) == 0 || errno == ENOENT else {
            throw DiskCacheError("renameat \(name)", code: errno)
        }
    }

    /// Whether there are folders with entries.
    var hasEntries: Bool {
        EntryKind.allCases.contains { hasFile("\(EntryPath.folder(of: $0))") }
    }

    /// Whether there is a file of this name, or a link, whatever its target.
    func hasFile(_ name: String) -> Bool {
        unsafe faccessat(root.raw, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0
    }
}
