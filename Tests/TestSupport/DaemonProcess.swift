// SPDX-License-Identifier: Apache-2.0

import CLinux
import CTestLinux
import Glibc

/// A real daemon in a process of its own, on a unix socket in a folder of its own; systemd's protocol
/// reports when it is ready.
public final class DaemonProcess: Sendable {
    /// The daemon's process.
    private let process: ChildProcess
    /// Its id.
    public var pid: Int32 { process.pid }
    /// The socket that it serves.
    public let socketPath: String
    /// The file of its standard output and error.
    public let logPath: String
    /// Receives the daemon's notifications.
    private let notifySocket: CInt
    private let configPath: String

    /// The error when starting or waiting.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// The binary that `TESTED_PROGRAM` names, or the one that the tests were built with, which lies beside the test runner.
    public static var executable: String {
        if let named = unsafe getenv("TESTED_PROGRAM") { return unsafe String(cString: named) }
        var buffer = [CChar](repeating: 0, count: 4_096)
        let length = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        let own = String(decoding: buffer.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return own.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
            + "/imageproxyd"
    }

    /// Starts a daemon with the folder's `config.json` and returns when it reports that it is ready.
    ///
    /// - Parameters:
    ///   - folder: an existing folder of the caller's.
    ///   - configuration: JSON; `listen` is added.
    ///   - calls: system calls that the kernel does not support.
    ///   - wrapper: a program with arguments that becomes the daemon.
    ///   - sockets: what it inherits as systemd passes sockets; `environment` has `LISTEN_FDS` and the
    ///     names.
    public static func start(
        in folder: String, configuration: String, environment: [String] = [], without calls: [String] = [],
        through wrapper: [String] = [], sockets: [CInt] = []
    ) async throws -> DaemonProcess {
        try await starting.pass {
            try await onThread {
                try DaemonProcess(folder, configuration, environment, calls, wrapper, sockets)
            }
        }
    }

    /// Starting takes a core for a moment: all tests at once would make each wait for all others.
    private static let starting = Turnstile(places: 4)

    private init(
        _ folder: String, _ configuration: String, _ environment: [String], _ calls: [String],
        _ wrapper: [String], _ sockets: [CInt]
    ) throws {
        socketPath = folder + "/http.sock"
        logPath = folder + "/daemon.log"
        configPath = folder + "/config.json"
        try Self.write(Self.complete(configuration, socketPath), to: configPath)
        notifySocket = try Self.datagramSocket(at: folder + "/notify.sock")
        // systemd names the process that the sockets are for, whose id is known only once it runs.
        let shell = ["/bin/sh", "-c", "LISTEN_PID=$$ exec \"$0\" \"$@\""]
        process = try MortalProcess.spawn(
            wrapper + (sockets.isEmpty ? [] : shell) + [Self.executable, "serve", "--config", configPath],
            environment: ["NOTIFY_SOCKET=\(folder)/notify.sock", "PATH=/usr/bin:/bin", "HOME=\(folder)"]
                + environment,
            log: logPath, without: calls, descriptors: sockets)
        do {
            while try !receiveNotification().contains("READY=1") {}
            guard calls.isEmpty || Self.filters(of: "\(process.pid)") != Self.filters(of: "self") else {
                throw Failure(description: "it has the system calls \(calls) nevertheless")
            }
        } catch {
            let state =
                process.hasEnded
                ? "ended with \(try process.end())" : "not ready, its threads:\n\(process.threads)"
            throw Failure(description: "\(error)\n\(state)\n\(Self.read(logPath))")
        }
    }

    /// The line of proc(5) that says how many filters of system calls a process has.
    private static func filters(of process: String) -> Substring? {
        read("/proc/\(process)/status").split(separator: "\n").first { $0.hasPrefix("Seccomp_filters:") }
    }

    private static func complete(_ configuration: String, _ socketPath: String) -> String {
        let body = configuration.dropFirst(1)
        let separator = body.contains(":") ? ", " : ""
        return "{\"listen\": [\"unix:\(socketPath)\"]" + separator + body
    }

    /// Writes another `config.json`, as `start` does, and reloads the daemon.
    /// - Returns: the notifications up to the one that it is ready again.
    public func reload(configuration: String) async throws -> [String] {
        try Self.write(Self.complete(configuration, socketPath), to: configPath)
        send(signal: SIGHUP)
        return try await onThread {
            var notifications: [String] = []
            repeat {
                notifications.append(try self.receiveNotification())
            } while notifications.last?.contains("READY=1") != true
            return notifications
        }
    }

    deinit {
        close(notifySocket)
    }

    /// Sends a signal.
    public func send(signal: Int32) {
        process.send(signal: signal)
    }

    /// The descriptors that the daemon has open, each with its target (proc(5)).
    public var descriptors: [Int: String] {
        get throws {
            guard let folder = opendir("/proc/\(pid)/fd") else {
                throw Failure(description: "no /proc/\(pid)/fd")
            }
            defer { closedir(folder) }
            var open: [Int: String] = [:]
            while let entry = readdir(folder) {
                let name = withUnsafeBytes(of: entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                guard let number = Int(name) else { continue }
                var target = [CChar](repeating: 0, count: 4_096)
                let length = readlink("/proc/\(pid)/fd/\(number)", &target, target.count)
                open[number] = String(
                    decoding: target.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            }
            return open
        }
    }

    /// Lets the daemon open only so many descriptors more than it has open now, libraries aside.
    public func limitDescriptors(aboveOpen count: Int) throws {
        let open = try descriptors
        // The kernel's limit is on a descriptor's number, and those inherited from here leave gaps.
        var (free, number) = (0, 0)
        while free < count || open[number] != nil {
            if open[number] == nil { free += 1 }
            number += 1
        }
        // Those that are left to libraries are above.
        var limit = number
        while limit - Int(linux_kept_descriptors(UInt64(limit))) < number { limit += 1 }
        try limitDescriptors(to: limit)
    }

    /// Lets the daemon open only descriptors with lower numbers; may be taken back.
    public func limitDescriptors(to number: Int) throws {
        var limit = rlimit(rlim_cur: rlim_t(number), rlim_max: rlim_t(try descriptorLimits.hard))
        guard test_prlimit(pid, CInt(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            throw Failure(description: "prlimit: \(errno)")
        }
    }

    /// How many descriptors the daemon may open, and how high it could set that itself.
    public var descriptorLimits: (soft: Int, hard: Int) {
        get throws {
            let line = Self.read("/proc/\(pid)/limits").split(separator: "\n").first {
                $0.hasPrefix("Max open files")
            }
            let numbers = line?.split(separator: " ").compactMap { Int($0) } ?? []
            guard numbers.count == 2 else { throw Failure(description: "no limit of open files of \(pid)") }
            return (numbers[0], numbers[1])
        }
    }

    /// The most memory that the daemon has had resident, in bytes.
    public var peakMemory: Int {
        get throws {
            let line = Self.read("/proc/\(pid)/status").split(separator: "\n").first {
                $0.hasPrefix("VmHWM:")
            }
            guard let digits = line?.filter(\.isNumber), let kibibytes = Int(digits) else {
                throw Failure(description: "no VmHWM of \(pid)")
            }
            return kibibytes << 10
        }
    }

    /// Waits for the daemon's end; its exit code, or 128 + the signal that ended it.
    public func exitCode() async throws -> Int {
        try await onThread { [process] in try process.end() }
    }

    /// The daemon's whole log.
    public var log: String { Self.read(logPath) }

    /// Waits for the next notification to the service manager.
    public func notification() async throws -> String {
        try await onThread { try self.receiveNotification() }
    }

    private func receiveNotification() throws -> String {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = recv(notifySocket, &buffer, buffer.count, 0)
        guard count > 0 else { throw Failure(description: "no notification within 2 min") }
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    private static func datagramSocket(at path: String) throws -> CInt {
        unlink(path)
        let descriptor = socket(AF_UNIX, LINUX_SOCK_DGRAM | LINUX_SOCK_CLOEXEC, 0)
        let bound = UnixAddress.with(path) { bind(descriptor, $0, $1) }
        guard bound == 0 else { throw Failure(description: "bind \(path): \(errno)") }
        var timeout = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        return descriptor
    }

    private static func write(_ text: String, to path: String) throws {
        let descriptor = linux_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { throw Failure(description: "open \(path): \(errno)") }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw Failure(description: "write \(path): \(errno)")
        }
    }

    private static func read(_ path: String) -> String {
        let descriptor = linux_open(path, O_RDONLY, 0)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer.prefix(count)
        }
    }
}
