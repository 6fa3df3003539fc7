// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// A process that a test has started; the end of the object kills it.
///
/// No signal is sent once its end has been waited for: the kernel may have given its id to another process by then.
public final class ChildProcess: Sendable {
    /// Its id, which is its own until its end has been waited for.
    public let pid: Int32
    /// How it ended; nil until that has been waited for.
    private let status = Mutex<CInt?>(nil)

    init(pid: pid_t) {
        self.pid = pid
    }

    deinit {
        send(signal: SIGKILL)
        // Ignored: why the kernel does not know how it ended; no caller needs it.
        _ = try? end()
    }

    /// Sends a signal, unless its end has been waited for.
    public func send(signal: CInt) {
        status.withLock { status in
            if status == nil { kill(pid, signal) }
        }
    }

    /// Whether it has ended.
    public var hasEnded: Bool {
        status.withLock { status in
            guard status == nil else { return true }
            var facts = siginfo_t()
            return waitid(P_PID, id_t(pid), &facts, WEXITED | WNOHANG | WNOWAIT) != 0 || facts.si_signo != 0
        }
    }

    /// A line for each thread: its name and state, the system call that it waits in with its arguments, and where in the
    /// kernel (proc(5)). Says why a process hangs.
    public var threads: String {
        let folder = "/proc/\(pid)/task"
        guard let names = opendir(folder) else { return "" }
        defer { closedir(names) }
        var lines: [String] = []
        while let entry = readdir(names) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard !name.hasPrefix(".") else { continue }
            let facts = ["comm", "wchan", "syscall", "stat"].map {
                TextFiles.contents(ofFile: "\(folder)/\(name)/\($0)").filter { !$0.isNewline }
            }
            let state = facts[3].split(separator: ")").last?.prefix(2) ?? ""
            lines.append("\(name) \(facts[0])\(state) in \(facts[1]), system call \(facts[2])")
        }
        return lines.sorted().joined(separator: "\n")
    }

    /// Waits for its end; its exit code, or 128 + the signal that ended it. Blocks the thread.
    public func end() throws -> Int {
        // The id stays its own meanwhile, so that signals can be sent.
        var facts = siginfo_t()
        while status.withLock({ $0 == nil }), waitid(P_PID, id_t(pid), &facts, WEXITED | WNOWAIT) != 0 {
            guard errno == EINTR || errno == ECHILD else {
                throw DaemonProcess.Failure(description: "waitid: \(errno)")
            }
        }
        let status = try status.withLock { status in
            if let status { return status }
            var ended: CInt = 0
            while waitpid(pid, &ended, 0) < 0 {
                guard errno == EINTR else { throw DaemonProcess.Failure(description: "waitpid: \(errno)") }
            }
            status = ended
            return ended
        }
        return status & 0x7F == 0 ? Int(status >> 8 & 0xFF) : 128 + Int(status & 0x7F)
    }
}
