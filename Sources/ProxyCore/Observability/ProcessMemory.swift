// SPDX-License-Identifier: Apache-2.0

import Glibc
import Primitives

/// Memory of processes, read from their folders in /proc (proc(5)).
package enum ProcessMemory {
    /// Bytes that a process has in memory, its share of shared pages included (PSS): the sum over processes counts each page
    /// once.
    ///
    /// Where the kernel hides that from this user, its resident pages that no other process shares. Takes about a
    /// millisecond. Nil if there is no such process.
    package static func bytes(of process: Int32) -> Int? {
        if let text = FileIO.text(of: "/proc/\(process)/smaps_rollup", atMost: .kibibytes(64)),
            let bytes = proportional(rollup: text)
        {
            return bytes
        }
        return unshared(of: "\(process)")
    }

    /// Bytes in memory that are neither of files nor shared; nil if there is no such process.
    package static func unshared(of process: String = "self") -> Int? {
        FileIO.text(of: "/proc/\(process)/statm", atMost: .kibibytes(64)).flatMap {
            unshared(statm: $0, pageSize: sysconf(Int32(_SC_PAGESIZE)))
        }
    }

    /// The line `Pss:` of smaps_rollup, in bytes; nil without it.
    static func proportional(rollup: String) -> Int? {
        let line = rollup.split(separator: "\n").first { $0.hasPrefix("Pss:") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
    }

    /// Resident pages without those of files and shared memory, by statm, in bytes.
    static func unshared(statm: String, pageSize: Int) -> Int? {
        let fields = statm.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        guard fields.count > 2 else { return nil }
        return max(0, fields[1] - fields[2]) * pageSize
    }
}
