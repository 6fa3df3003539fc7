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

    /// Has its path lead to it in such a way that nothing can be written, until `endReadOnly`.
    public func beginReadOnly() throws {
        // Another mount, since one that files are open on for writing does not let itself be changed.
        let path = folder.path
        guard mount(path, path, nil, UInt(MS_BIND), nil) == 0,
            mount(path, path, nil, UInt(MS_BIND) | UInt(MS_REMOUNT) | UInt(MS_RDONLY), nil) == 0
        else {
            throw DaemonProcess.Failure(description: "mount: \(errno)")
        }
    }

    /// Has it be writable again.
    public func endReadOnly() {
        umount2(folder.path, Int32(MNT_DETACH))
    }

    deinit {
        // Once more where a test has not ended what it began; else there is nothing left to take away.
        for _ in 0..<2 { umount2(folder.path, Int32(MNT_DETACH)) }
    }

    /// Whether one can be mounted here.
    public static var isAvailable: Bool {
        ((try? SmallFileSystem(size: "64k")) ?? nil) != nil
    }
}
