// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// The kernel's restriction of files, TCP ports, abstract sockets and signals (landlock(7)).
enum Landlock {
    /// Why it is unavailable.
    struct Unavailable: Error {
        let reason: String
    }

    /// The folders that libraries read: fonts and their configuration, colour profiles, character sets, the
    /// number of processors.
    static let sharedFolders = [
        "/usr/share", "/usr/local/share/fonts", "/etc/fonts", "/var/cache/fontconfig",
        "/sys/devices/system/cpu",
    ]

    /// Restricts this thread to reading in `folders`, as far as they exist; returns the interface's version.
    static func allowReadingOnly(beneath folders: [String]) throws(Unavailable) -> Int {
        let version = linux_landlock_version()
        guard version > 0 else { throw Unavailable(reason: "errno \(errno)") }
        let raw = linux_landlock_ruleset(version)
        guard raw >= 0 else { throw Unavailable(reason: "landlock_create_ruleset: errno \(errno)") }
        let rules = OwnedDescriptor(owning: raw)
        for folder in folders { try allow(folder, in: rules) }
        guard linux_landlock_restrict(rules.raw) == 0 else {
            throw Unavailable(reason: "landlock_restrict_self: errno \(errno)")
        }
        return Int(version)
    }

    private static func allow(_ folder: String, in rules: OwnedDescriptor) throws(Unavailable) {
        let raw = unsafe linux_open_path(folder)
        // A missing folder can't be read anyway.
        guard raw >= 0 else { return }
        let opened = OwnedDescriptor(owning: raw)
        guard linux_landlock_allow_reading(rules.raw, opened.raw) == 0 else {
            throw Unavailable(reason: "landlock_add_rule for \(folder): errno \(errno)")
        }
    }
}
