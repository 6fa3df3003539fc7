// SPDX-License-Identifier: Apache-2.0

import CLinux
import CSeccomp
import Glibc

/// Makes some system calls fail as on a kernel without them, for a thread and whatever it starts.
public enum LackingKernel {
    /// How the program ended, and its output and errors.
    public struct Outcome: Sendable {
        public var code: Int
        public var lines: [String]
    }

    /// Runs the daemon's program to its end; once its log has `last`, if that is given, it is stopped.
    public static func run(
        _ arguments: [String], without calls: [String], until last: String? = nil
    ) async throws -> Outcome {
        try await withCheckedThrowingContinuation { continuation in
            // A thread of its own, since the loss is irrevocable.
            startThread {
                continuation.resume(
                    with: Result {
                        try lose(calls)
                        return try outcome(of: [DaemonProcess.executable] + arguments, until: last)
                    })
            }
        }
    }

    /// Runs code on a thread without some system calls, which its threads inherit.
    public static func make<Value: Sendable>(
        without calls: [String], _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        // A thread of its own, since the loss is irrevocable.
        try await onThread {
            try lose(calls)
            return try work()
        }
    }

    /// Removes some system calls from this thread, and from whatever it starts.
    static func lose(_ calls: [String]) throws {
        guard linux_forbid_new_privileges() == 0, let context = seccomp_init(SHIM_ALLOW) else {
            throw DaemonProcess.Failure(description: "no seccomp")
        }
        defer { seccomp_release(context) }
        for name in calls {
            seccomp_rule_add_array(context, SHIM_DENY_KNOWLEDGE, seccomp_syscall_resolve_name(name), 0, nil)
        }
        guard seccomp_load(context) == 0 else {
            throw DaemonProcess.Failure(description: "seccomp_load")
        }
    }

    private static func outcome(of arguments: [String], until last: String?) throws -> Outcome {
        var ends: [CInt] = [-1, -1]
        guard linux_message_pair(&ends) == 0 else { throw DaemonProcess.Failure(description: "socketpair") }
        let (ours, theirs) = (ends[0], ends[1])
        defer { close(ours) }
        let (pid, code) = spawn(arguments, output: theirs)
        close(theirs)
        guard code == 0 else { throw DaemonProcess.Failure(description: "posix_spawn: \(code)") }
        let text = read(ours, until: last) { kill(pid, SIGTERM) }
        var status: CInt = 0
        while waitpid(pid, &status, 0) < 0 {
            guard errno == EINTR else { throw DaemonProcess.Failure(description: "waitpid: \(errno)") }
        }
        return Outcome(
            code: status & 0x7F == 0 ? Int(status >> 8 & 0xFF) : 128 + Int(status & 0x7F),
            lines: text.split(separator: "\n").map(String.init))
    }

    private static func spawn(_ arguments: [String], output: CInt) -> (pid: pid_t, code: CInt) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, output, 2)
        var argv = arguments.map { strdup($0) } + [nil]
        var envp: [UnsafeMutablePointer<CChar>?] = [nil]
        defer {
            for pointer in argv { free(pointer) }
        }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, arguments[0], &actions, nil, &argv, &envp)
        return (pid, code)
    }

    private static func read(_ descriptor: CInt, until last: String?, _ end: () -> Void) -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var last = last
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer.prefix(count)
            if let text = last, String(decoding: bytes, as: UTF8.self).contains(text) {
                last = nil
                end()
            }
        }
    }
}
