// SPDX-License-Identifier: Apache-2.0

import CLinux
import Dispatch
import Glibc
import Synchronization

/// Starts processes that the kernel ends when this one does, in whatever way: an interrupted test run leaves
/// nothing behind.
enum MortalProcess {
    /// What a spawned process is: everything in the form of posix_spawn(3).
    private struct Order: Sendable {
        var arguments: [String]
        var environment: [String]
        var output: String
        var errors: String?
        var calls: [String] = []
        var descriptors: [CInt] = []
        let isDone = DispatchSemaphore(value: 0)
        let outcome = Outcome()

        /// Starts it from this thread, with which it ends; returns its id, or nil where it could not be started.
        @discardableResult
        func carryOut() -> pid_t? {
            let result = Result { try MortalProcess.start(self) }
            outcome.value.withLock { $0 = result }
            isDone.signal()
            // Ignored: why it could not be started, which the waiting thread gets.
            return try? result.get()
        }
    }

    private final class Outcome: Sendable {
        let value = Mutex<Result<pid_t, any Error>?>(nil)
    }

    private static let orders = Mutex<[Order]>([])
    private static let orderCount = DispatchSemaphore(value: 0)

    /// Ends with the process, and never before: what counts is the thread that started a child
    /// (PR_SET_PDEATHSIG).
    private static let parent: Void = startThread {
        while true {
            orderCount.wait()
            orders.withLock { $0.removeFirst() }.carryOut()
        }
    }

    /// Starts a program with its output appended to the file `log`.
    /// - Parameters:
    ///   - calls: system calls that the kernel does not support.
    ///   - descriptors: its descriptors 3, 4 and so on.
    static func spawn(
        _ arguments: [String], environment: [String], log: String, without calls: [String] = [],
        descriptors: [CInt] = []
    ) throws -> ChildProcess {
        try spawn(
            Order(
                arguments: arguments, environment: environment, output: log, calls: calls,
                descriptors: descriptors))
    }

    /// Starts a program with its output appended to one file, and its errors to another.
    static func spawn(
        _ arguments: [String], environment: [String], output: String, errors: String
    ) throws -> ChildProcess {
        try spawn(Order(arguments: arguments, environment: environment, output: output, errors: errors))
    }

    private static func spawn(_ order: Order) throws -> ChildProcess {
        if order.calls.isEmpty {
            _ = parent
            orders.withLock { $0.append(order) }
            orderCount.signal()
        } else {
            // A thread of its own, since the loss is irrevocable; it lasts as long as the process.
            startThread {
                guard let pid = order.carryOut() else { return }
                var facts = siginfo_t()
                while waitid(P_PID, id_t(pid), &facts, WEXITED | WNOWAIT) != 0, errno == EINTR {}
            }
        }
        order.isDone.wait()
        guard let result = order.outcome.value.withLock({ $0 }) else {
            throw DaemonProcess.Failure(description: "no outcome of \(order.arguments[0])")
        }
        return ChildProcess(pid: try result.get())
    }

    private static func start(_ order: Order) throws -> pid_t {
        if !order.calls.isEmpty { try LackingKernel.lose(order.calls) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        let flags = O_WRONLY | O_CREAT | O_APPEND
        posix_spawn_file_actions_addopen(&actions, 1, order.output, flags, 0o600)
        if let errors = order.errors {
            posix_spawn_file_actions_addopen(&actions, 2, errors, flags, 0o600)
        } else {
            posix_spawn_file_actions_adddup2(&actions, 1, 2)
        }
        // High numbers first: none replaces another that has yet to be duplicated.
        let high = order.descriptors.map { fcntl($0, F_DUPFD_CLOEXEC, 100) }
        defer { high.forEach { close($0) } }
        for (index, descriptor) in high.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, CInt(3 + index))
        }
        // posix_spawn has no such attribute; setpriv(1) of util-linux sets it and becomes the program.
        let command = ["/usr/bin/setpriv", "--pdeathsig", "KILL", "--"] + order.arguments
        var argv = command.map { strdup($0) } + [nil]
        var envp = order.environment.map { strdup($0) } + [nil]
        defer {
            for pointer in argv + envp { free(pointer) }
        }
        // Signals that this thread blocks must be unblocked for a program of its own.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var pid: pid_t = 0
        let code = posix_spawn(&pid, command[0], &actions, &attributes, &argv, &envp)
        guard code == 0 else {
            throw DaemonProcess.Failure(description: "posix_spawn \(order.arguments[0]): \(code)")
        }
        return pid
    }
}
