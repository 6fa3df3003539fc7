// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Primitives

/// The standard metrics of this process, read from /proc/self (proc(5)) at each scrape.
///
/// Without those of workers. Nothing outside /proc/self is read: a unit with `ProcSubset=pid` hides the rest.
package struct ProcessMetrics: Sendable {
    /// The facts of /proc/self/stat and the other files, in the units of the metrics.
    struct Facts: Sendable, Equatable {
        var cpuSeconds: Double
        var startTime: Double
        var virtualBytes: Int
        var residentBytes: Int
        var threads: Int
    }

    /// The families; without samples if the kernel gives no answer.
    package static func families() -> [any MetricFamily] {
        let rows: [(String, MetricRow.Kind, String, @Sendable () -> MetricReading.Reading?)] = [
            ("cpu_seconds_total", .counter, "User and system time.", { real(facts()?.cpuSeconds) }),
            ("start_time_seconds", .gauge, "Start, in seconds since 1970.", { real(facts()?.startTime) }),
            ("virtual_memory_bytes", .gauge, "Size of the address space.", { whole(facts()?.virtualBytes) }),
            ("resident_memory_bytes", .gauge, "Memory in use.", { whole(facts()?.residentBytes) }),
            ("threads", .gauge, "Threads.", { whole(facts()?.threads) }),
            ("open_fds", .gauge, "File descriptors open.", { whole(openDescriptors()) }),
            ("max_fds", .gauge, "Most file descriptors that may be open.", { whole(descriptorLimit()) }),
        ]
        return rows.map { name, kind, help, read in
            let family = MetricReading("process_" + name, help, kind: kind)
            family.collect { read().map { [$0] } ?? [] }
            return family
        }
    }

    /// Memory in use, in bytes; nil if the kernel gives no answer.
    package static var residentBytes: Int? { facts()?.residentBytes }

    /// The start of the process, in seconds since 1970; nil if the kernel gives no answer.
    package static var startTime: Int? { facts().map { Int($0.startTime) } }

    private static func whole(_ value: Int?) -> MetricReading.Reading? { value.map { .init([], $0) } }
    private static func real(_ value: Double?) -> MetricReading.Reading? { value.map { .init([], $0) } }

    private static func facts() -> Facts? {
        guard let stat = FileIO.text(of: "/proc/self/stat", atMost: .kibibytes(64)) else { return nil }
        return facts(
            stat: stat, bootTime: bootTime, ticksPerSecond: sysconf(Int32(_SC_CLK_TCK)),
            pageSize: sysconf(Int32(_SC_PAGESIZE)))
    }

    /// When the machine was started, in seconds since 1970; read once, so that the start time is constant.
    private static let bootTime =
        Double(SystemTime.nanoseconds(of: CLOCK_REALTIME) - SystemTime.nanoseconds(of: CLOCK_BOOTTIME))
        / 1_000_000_000

    /// Parses the text of /proc/self/stat; nil if it is not in the format of proc(5).
    static func facts(stat: String, bootTime: Double, ticksPerSecond: Int, pageSize: Int) -> Facts? {
        // The second field is the command's name in parentheses and may contain anything, parentheses
        // included.
        guard let nameEnd = stat.lastIndex(of: ")"), ticksPerSecond > 0 else { return nil }
        let fields = stat[stat.index(after: nameEnd)...].split(whereSeparator: \.isWhitespace)
        func field(_ number: Int) -> Int? {
            // Fields are counted from 1, and the first after the name is the third.
            fields.indices.contains(number - 3) ? Int(fields[number - 3]) : nil
        }
        guard let user = field(14), let kernel = field(15), let threads = field(20), let start = field(22),
            let size = field(23), let pages = field(24)
        else { return nil }
        return Facts(
            cpuSeconds: Double(user + kernel) / Double(ticksPerSecond),
            startTime: bootTime + Double(start) / Double(ticksPerSecond),
            virtualBytes: size, residentBytes: pages * pageSize, threads: threads)
    }

    private static func openDescriptors() -> Int? {
        guard let folder = unsafe opendir("/proc/self/fd") else {
            // None is left to open the folder with, so all of them are open.
            return errno == EMFILE ? descriptorLimit() : nil
        }
        defer { unsafe closedir(folder) }
        // Not counted: the folder's own descriptor.
        var count = -1
        while let entry = unsafe readdir(folder) {
            // Safe because readdir's entry is valid until the next call; `.` and `..` begin with a full stop.
            if unsafe entry.pointee.d_name.0 != UInt8(ascii: ".") { count += 1 }
        }
        return count
    }

    private static func descriptorLimit() -> Int? {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return Int(clamping: limit.rlim_cur)
    }
}
