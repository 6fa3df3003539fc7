// SPDX-License-Identifier: Apache-2.0

import Bodies
import CLinux
import Glibc
import Primitives

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
        guard version > 0 else { throw Unavailable(reason: reason(errno, isFiltered: isFiltered)) }
        let raw = linux_landlock_ruleset(version)
        guard raw >= 0 else { throw Unavailable(reason: "landlock_create_ruleset: errno \(errno)") }
        let rules = OwnedDescriptor(owning: raw)
        for folder in folders { try allow(folder, in: rules) }
        guard linux_landlock_restrict(rules.raw) == 0 else {
            throw Unavailable(reason: "landlock_restrict_self: errno \(errno)")
        }
        return Int(version)
    }

    /// Why the kernel has answered the first call with this error.
    ///
    /// - Parameter isFiltered: whether a filter of system calls was in force before: containers and units have one, which
    ///   may answer with any error, also with the one for a call that the kernel does not know.
    static func reason(_ code: CInt, isFiltered: Bool) -> String {
        switch code {
        case EOPNOTSUPP: "turned off when the kernel was started: its parameter lsm= has to name landlock"
        case ENOSYS where !isFiltered:
            "this kernel has none: Linux 5.13 has, built with CONFIG_SECURITY_LANDLOCK"
        case ENOSYS:
            "refused by a filter of system calls (seccomp) such as a container's, or not in this kernel: the filter has to allow "
                + "landlock_create_ruleset, landlock_add_rule and landlock_restrict_self"
        case EPERM, EACCES:
            "forbidden by a filter of system calls (seccomp) such as a container's: it has to allow landlock_create_ruleset, "
                + "landlock_add_rule and landlock_restrict_self"
        default: "errno \(code)"
        }
    }

    /// Whether system calls of this process are filtered (proc(5), `Seccomp`); false where that can't be read.
    private static var isFiltered: Bool {
        let text = FileIO.text(of: "/proc/self/status", atMost: .kibibytes(64)) ?? ""
        return text.split(separator: "\n").contains { $0.hasPrefix("Seccomp:") && $0.hasSuffix("2") }
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
