// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A file system of its own, small enough to fill; needs the right to mount one.
public final class SmallFileSystem: Sendable {
    /// Where it is mounted.
    public let folder: TemporaryDirectory

    /// Mounts one of `size` (as mount(8) takes it); nil without the right to.
    public init?(size: String) throws {
        folder = try TemporaryDirectory()
        guard mount("tmpfs", folder.path, "tmpfs", 0, "size=\(size)") == 0 else { return nil }
    }

    deinit {
        umount2(folder.path, Int32(MNT_DETACH))
    }

    /// Whether one can be mounted here.
    public static var isAvailable: Bool {
        ((try? SmallFileSystem(size: "64k")) ?? nil) != nil
    }
}
