// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Waits for files that come, are replaced or go, as inotify(7) reports them.
public final class FolderWatch: Sendable {
    private let descriptor: CInt
    private static let events = UInt32(IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE)

    /// Begins to watch the names in a folder.
    public init(_ folder: String) throws {
        descriptor = inotify_init1(CInt(IN_CLOEXEC))
        guard inotify_add_watch(descriptor, folder, Self.events) >= 0 else {
            let code = errno
            close(descriptor)
            throw DaemonProcess.Failure(description: "\(folder) can't be watched: error \(code)")
        }
    }

    deinit { close(descriptor) }

    /// Returns when something is true, which is asked at first and after each change in the folder. Blocks.
    /// - Throws: `Failure` after ten minutes without a change.
    public func wait(until isTrue: () throws -> Bool) throws {
        var events = [UInt8](repeating: 0, count: 65_536)
        while try !isTrue() {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, 600_000) == 1, read(descriptor, &events, events.count) > 0 else {
                throw DaemonProcess.Failure(description: "nothing changes in the folder")
            }
        }
    }

    /// Returns when a file is gone. Blocks.
    public static func waitForRemoval(of path: String) throws {
        let end = path.lastIndex(of: "/") ?? path.startIndex
        try FolderWatch(String(path[..<end])).wait { access(path, F_OK) != 0 }
    }
}
