// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Where the system reports memory pressure: at systemd's path (systemd.resource-control(5),
/// MemoryPressureWatch=), else in the daemon's own control group, else for the whole machine (the kernel's
/// PSI).
struct PressureSource: Sendable, Equatable {
    /// The file, FIFO or socket.
    var path: String
    /// What is written into it after it was opened, to define the pressure that is reported.
    var trigger: [UInt8]

    /// Some tasks waited for memory for 200 ms of 2 s, systemd's default; an ordinary user may set no other
    /// window.
    static let defaultTrigger = Array("some 200000 2000000\0".utf8)

    /// Returns the places to watch, in order of preference; none if systemd has turned it off.
    static func candidates(environment: [String: String], controlGroups: String) -> [PressureSource] {
        if let path = environment["MEMORY_PRESSURE_WATCH"] {
            guard path != "/dev/null", !path.isEmpty else { return [] }
            let text = environment["MEMORY_PRESSURE_WRITE"] ?? ""
            return [PressureSource(path: path, trigger: Base64.decode(text.utf8) ?? [])]
        }
        var paths = ["/proc/pressure/memory"]
        // The unified hierarchy's line is `0::/path`.
        let group = controlGroups.split(separator: "\n").first { $0.hasPrefix("0::/") }
        if let group { paths.insert("/sys/fs/cgroup\(group.dropFirst(3))/memory.pressure", at: 0) }
        return paths.map { PressureSource(path: $0, trigger: defaultTrigger) }
    }
}
