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

    /// Makes its path read-only, until `endReadOnly`.
    public func beginReadOnly() throws {
        // By another mount, since one with files that are open for writing can't be made read-only.
        let path = folder.path
        guard mount(path, path, nil, UInt(MS_BIND), nil) == 0,
            mount(path, path, nil, UInt(MS_BIND) | UInt(MS_REMOUNT) | UInt(MS_RDONLY), nil) == 0
        else {
            throw DaemonProcess.Failure(description: "mount: \(errno)")
        }
    }

    /// Makes it writable again.
    public func endReadOnly() {
        umount2(folder.path, Int32(MNT_DETACH))
    }

    deinit {
        // Again if a test has not ended what it began; else there is nothing left to unmount.
        for _ in 0..<2 { umount2(folder.path, Int32(MNT_DETACH)) }
    }

    /// Whether one can be mounted here.
    public static var isAvailable: Bool {
        ((try? SmallFileSystem(size: "64k")) ?? nil) != nil
    }
}
