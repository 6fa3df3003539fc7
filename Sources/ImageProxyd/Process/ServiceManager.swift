// SPDX-License-Identifier: Apache-2.0

import Answering
import CSystemd
import Glibc
internal import Logging

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
    struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
        var code: Int32

        /// The reason, and the variable that says where the service manager is.
        var description: String {
            // Safe because strerror's text is copied at once, and is the calling thread's own (glibc 2.32).
            "NOTIFY_SOCKET: \(unsafe String(cString: strerror(code)))"
        }
    }

    /// What the daemon reports.
    enum Message: Sendable, Hashable {
        /// It serves; with a line for `systemctl status`.
        case ready(status: String)
        /// It reads settings again; followed by `ready`. CLOCK_MONOTONIC at the start is what
        /// `Type=notify-reload` requires.
        case reloading(monotonicMicroseconds: Int64)
        /// It is shutting down.
        case stopping
        /// It is alive; must be sent more often than `watchdogInterval`, and only after a check.
        case alive
        /// It needs more time to start, reload or stop, counted from now.
        case needsTime(Duration)

        fileprivate var text: String {
            switch self {
            // A line break would begin another assignment.
            case .ready(let status): "READY=1\nSTATUS=\(status.replacing("\n", with: " "))"
            case .reloading(let start): "RELOADING=1\nMONOTONIC_USEC=\(start)"
            case .stopping: "STOPPING=1"
            case .alive: "WATCHDOG=1"
            case .needsTime(let duration): "EXTEND_TIMEOUT_USEC=\(Int64(duration / .microseconds(1)))"
            }
        }
    }

    /// Sends a message.
    /// - Returns: whether there is a service manager.
    @discardableResult
    func send(_ message: Message) throws(Failure) -> Bool {
        let result = unsafe sd_notify(0, message.text)
        guard result >= 0 else { throw Failure(code: -result) }
        return result > 0
    }

    /// Sends a message. If that fails, the daemon continues to serve, and logs the failure.
    func report(_ message: Message, to logger: Logger) {
        do throws(Failure) {
            try send(message)
        } catch {
            logger.error("the service manager was not notified: \(error)")
        }
    }

    /// The maximum interval between messages `alive`; nil if systemd does not watch
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
}
