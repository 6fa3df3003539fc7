// SPDX-License-Identifier: Apache-2.0

import CSystemd
import Glibc

/// Speaks systemd's notification protocol (sd_notify(3)); without `NOTIFY_SOCKET` every message is dropped.
///
/// The only file that imports libsystemd. Safe from any thread.
struct ServiceManager: Sendable {
    /// A socket that systemd opened for the daemon (sd_listen_fds(3)).
    struct InheritedSocket: Sendable, Hashable {
        /// The descriptor, which is now the daemon's own and closed on exec.
        var descriptor: Int32
        /// Its `FileDescriptorName=`; `unknown` when it has none.
        var name: String
    }

    /// A message could not be sent; an error of errno(3).
    struct Failure: Error, Sendable, Hashable {
        var code: Int32
    }

    /// Reports that the daemon serves, with a line for `systemctl status`.
    /// - Returns: whether there is a service manager.
    @discardableResult
    func ready(status: String) throws(Failure) -> Bool {
        try notify("READY=1\nSTATUS=\(oneLine(status))")
    }

    /// Reports that settings are being read again; followed by `ready`.
    ///
    /// `monotonicMicroseconds` is CLOCK_MONOTONIC at the start, which `Type=notify-reload` requires.
    @discardableResult
    func reloading(monotonicMicroseconds: UInt64) throws(Failure) -> Bool {
        try notify("RELOADING=1\nMONOTONIC_USEC=\(monotonicMicroseconds)")
    }

    /// Reports that the daemon is shutting down.
    @discardableResult
    func stopping() throws(Failure) -> Bool {
        try notify("STOPPING=1")
    }

    /// Reports that the daemon is alive; must be sent more often than `watchdogInterval`, and only after a
    /// check.
    @discardableResult
    func watchdog() throws(Failure) -> Bool {
        try notify("WATCHDOG=1")
    }

    /// Requests more time to start, reload or stop, counted from now.
    @discardableResult
    func extendTimeout(by duration: Duration) throws(Failure) -> Bool {
        let microseconds =
            duration.components.seconds * 1_000_000
            + duration.components.attoseconds / 1_000_000_000_000
        return try notify("EXTEND_TIMEOUT_USEC=\(microseconds)")
    }

    /// The maximum interval between calls of `watchdog`; nil if systemd does not watch
    /// (sd_watchdog_enabled(3)).
    var watchdogInterval: Duration? {
        var microseconds: UInt64 = 0
        guard unsafe sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
        return .microseconds(Int64(clamping: microseconds))
    }

    /// Takes over the sockets that systemd opened, in the order of its units.
    ///
    /// Once only: the variables are removed from the environment, so that they reach no child.
    /// - Throws: if systemd's variables are invalid, or a descriptor is not open.
    func inheritSockets() throws(Failure) -> [InheritedSocket] {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = unsafe sd_listen_fds_with_names(1, &names)
        guard count >= 0 else { throw Failure(code: -count) }
        defer { unsafe release(names, count) }
        // Safe because the call promises `count` strings, and a null pointer only when the count is 0.
        return (0..<Int(count)).map { index in
            let name = unsafe names?[index].map { unsafe String(cString: $0) }
            return InheritedSocket(descriptor: SD_LISTEN_FDS_START + Int32(index), name: name ?? "unknown")
        }
    }

    private func release(_ names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ count: Int32) {
        guard let names = unsafe names else { return }
        for index in 0..<Int(count) { unsafe free(names[index]) }
        unsafe free(names)
    }

    private func notify(_ message: String) throws(Failure) -> Bool {
        let result = unsafe sd_notify(0, message)
        guard result >= 0 else { throw Failure(code: -result) }
        return result > 0
    }

    /// A line break would begin another assignment.
    private func oneLine(_ text: String) -> String {
        text.replacing("\n", with: " ")
    }
}
