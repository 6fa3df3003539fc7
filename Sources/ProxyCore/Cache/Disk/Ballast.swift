// SPDX-License-Identifier: Apache-2.0

import Bodies
import CLinux
import Glibc
import Primitives

/// Disk space in reserve: released when the disk is full, so that deleting, which needs some, can continue.
final class Ballast: Sendable {
    private static let fileName = "ballast"

    private let folder: DiskFolder
    private let bytes: Int

    /// Creates the reserve; `fill` allocates it.
    init(folder: DiskFolder, size: ByteCount) {
        self.folder = folder
        bytes = size.bytes
    }

    /// Allocates the space unless it is allocated; false if there is none, which a later call may change.
    @discardableResult
    func fill() -> Bool {
        guard bytes > 0 else { return false }
        let flags = O_RDWR | O_CREAT | O_CLOEXEC
        let descriptor = unsafe linux_openat(folder.root.raw, Self.fileName, flags, DiskFolder.fileMode)
        guard descriptor >= 0 else { return false }
        let file = OwnedDescriptor(owning: descriptor)
        // Another size may have been configured before.
        if let status = try? file.status(), status.size > bytes { _ = ftruncate(file.raw, off_t(bytes)) }
        return posix_fallocate(file.raw, 0, off_t(bytes)) == 0
    }

    /// Releases the space; false if there was none.
    func release() -> Bool {
        unsafe unlinkat(folder.root.raw, Self.fileName, 0) == 0
    }
}
