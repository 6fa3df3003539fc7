// SPDX-License-Identifier: Apache-2.0

import Bodies
import CLinux
import Glibc
import Primitives

/// Excludes a second daemon from the folder, and records whether the last one left it in order.
///
/// While the folder is in use, its `lock` contains the id of the machine's present boot; else blanks, which
/// keep its space on the disk, so that a daemon can start on a full one, or that the index does not know all files. What a
/// killed process wrote is in the kernel; after a power loss it may not be on disk, and the next start finds another boot's
/// id there.
final class FolderLock: Sendable {
    private static let fileName = "lock"
    private static let bootPath = "/proc/sys/kernel/random/boot_id"
    /// Stands for the id of a boot where the system hides it: whether the machine stopped is not known then.
    private static let unknownBoot = Array("unknown".utf8)
    /// The content of a folder that was left in order, and that the index does not know completely.
    private static let unscanned = Array("unscanned".utf8)
    private static let maxContent = 64
    private static let blank = UInt8(ascii: " ")
    /// Time between two tries, in microseconds.
    private static let retryInterval: UInt32 = 20_000

    /// Whether the machine stopped while the folder was in use.
    let wasCutOff: Bool
    /// Whether there may be files that the index does not know: the last process did not end in order, had not
    /// scanned all, or could not remove some.
    let needsScan: Bool

    private let file: OwnedDescriptor
    private let boot: [UInt8]

    /// Locks the folder; blocks for at most `lockTimeout`, while another daemon finishes.
    /// - Parameters:
    ///   - bootPath: the file that has the id of the machine's present boot.
    ///   - pause: waits for so many microseconds between two tries.
    /// - Throws: `locked` if it does not.
    init(
        folder: DiskFolder, lockTimeout: TimeSpan, bootPath: String = FolderLock.bootPath,
        pause: (UInt32) -> Void = { usleep($0) }
    ) throws(DiskCacheError) {
        boot = Self.boot(bootPath)
        file = try folder.openRegularFile(Self.fileName)
        try Self.lock(file, lockTimeout: lockTimeout, pause: pause, path: folder.path)
        let last = try file.read(Self.maxContent, at: 0, fromMemory: false)
        let content = last.filter { $0 != Self.blank }
        needsScan = !content.isEmpty
        wasCutOff = needsScan && content != Self.unscanned && (last != boot || boot == Self.unknownBoot)
    }

    /// A lock on nothing, for a folder that is not writable, until `become`.
    init() throws(DiskCacheError) {
        let descriptor = unsafe linux_memfd_create("lock")
        guard descriptor >= 0 else { throw DiskCacheError("memfd_create", code: errno) }
        file = OwnedDescriptor(owning: descriptor)
        boot = Self.boot(Self.bootPath)
        (wasCutOff, needsScan) = (false, false)
    }

    /// Declares that the folder is in use; before that, the next start sees what this one saw.
    func markInUse() throws(DiskCacheError) {
        try file.write(boot, at: 0)
        guard ftruncate(file.raw, off_t(boot.count)) == 0 else {
            throw DiskCacheError("ftruncate", code: errno)
        }
    }

    /// Replaces this lock by another one.
    func replace(by other: FolderLock) throws(DiskCacheError) { try file.replace(by: other.file) }

    /// Whether the lock that is held is still the one that another daemon would find.
    func isInPlace(in folder: DiskFolder) -> Bool { folder.holds(file, as: Self.fileName) }

    /// Declares that the folder is in order, and releases it for another daemon.
    /// - Parameter isScanned: whether the index knows all files.
    func release(isScanned: Bool) {
        // Ignored: a failure; it leaves the boot's id there, and costs the next start a needless scan of the folder and, after
        // a reboot, a confirmation of each source.
        let word = isScanned ? [] : Self.unscanned
        let blanks = [UInt8](repeating: Self.blank, count: max(0, boot.count - word.count))
        try? file.write(word + blanks, at: 0)
        _ = linux_flock(file.raw, LOCK_UN)
    }

    private static func lock(
        _ file: OwnedDescriptor, lockTimeout: TimeSpan, pause: (UInt32) -> Void, path: String
    ) throws(DiskCacheError) {
        var lockTimeout = lockTimeout.milliseconds * 1_000
        while linux_flock(file.raw, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw DiskCacheError("flock", code: errno) }
            guard lockTimeout > 0 else { throw .locked(path) }
            pause(retryInterval)
            lockTimeout -= Int(retryInterval)
        }
    }

    private static func boot(_ path: String) -> [UInt8] {
        let id = FileIO.text(of: path, atMost: ByteCount(maxContent)) ?? ""
        return id.isEmpty ? unknownBoot : Array(id.utf8)
    }
}
