// SPDX-License-Identifier: Apache-2.0

import CSeccomp
import Glibc

/// The list of system calls that a worker may use (seccomp(2), by libseccomp).
///
/// All others fail with EPERM; libraries that try a newer call first then fall back to an allowed one.
struct CallFilter {
    /// Whether files may be opened for reading; only if Landlock restricts which.
    let mayOpenFiles: Bool

    /// Why it can't be applied.
    struct Unavailable: Error {
        let reason: String
    }

    /// One condition on an argument of a call.
    private struct Condition {
        let argument: UInt32
        let comparison: scmp_compare
        let value: UInt64
        var masked: UInt64 = 0

        static func equals(_ argument: UInt32, _ value: UInt64) -> Condition {
            Condition(argument: argument, comparison: SCMP_CMP_EQ, value: value)
        }

        /// The bits of `mask` must be those of `bits`.
        static func bits(_ argument: UInt32, of mask: UInt64, are bits: UInt64) -> Condition {
            Condition(argument: argument, comparison: SCMP_CMP_MASKED_EQ, value: mask, masked: bits)
        }
    }

    /// Calls allowed with any argument: memory, threads, time, and open descriptors.
    private static let harmless = [
        "brk", "mmap", "munmap", "mremap", "mprotect", "madvise", "mincore", "membarrier",
        "futex", "futex_time64", "set_robust_list", "get_robust_list", "rseq", "sched_yield",
        "sched_getaffinity",
        "sched_getparam", "sched_getscheduler", "sched_get_priority_max", "sched_get_priority_min",
        "getpriority",
        "gettid", "getpid", "getppid", "getuid", "geteuid", "getgid", "getegid", "getcpu", "uname", "sysinfo",
        "getrusage", "times", "getrandom", "set_tid_address", "arch_prctl", "restart_syscall",
        "exit", "exit_group", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "pause",
        "clock_gettime", "clock_getres", "gettimeofday", "time", "nanosleep", "clock_nanosleep", "alarm",
        "setitimer",
        "getitimer", "read", "readv", "pread64", "preadv", "preadv2", "write", "writev", "pwrite64",
        "pwritev",
        "lseek", "close", "close_range", "dup", "fcntl", "fstat", "fstatfs", "fadvise64", "getdents64",
        "poll",
        "ppoll", "eventfd2", "pipe2", "getcwd",
    ]

    /// Calls for facts about files, which Landlock does not restrict: names, but no content.
    private static let inspecting = [
        "stat", "lstat", "newfstatat", "statx", "access", "faccessat", "faccessat2", "readlink", "readlinkat",
        "statfs",
    ]

    // Constants of the kernel's interface (clone(2), open(2), prctl(2)).
    private static let cloneThread: UInt64 = 0x0001_0000
    private static let writingFlags: UInt64 =
        UInt64(O_ACCMODE) | UInt64(O_CREAT) | UInt64(O_TRUNC) | 0o20000000
    private static let setName: UInt64 = 15

    /// Refuses all other calls to every thread of this process, permanently.
    func apply() throws(Unavailable) {
        guard let context = unsafe seccomp_init(SHIM_REFUSE) else {
            throw Unavailable(reason: "seccomp_init")
        }
        defer { unsafe seccomp_release(context) }
        // The coders' threads have already started; they must be restricted as well.
        try check(unsafe seccomp_attr_set(context, SCMP_FLTATR_CTL_TSYNC, 1), "all threads at once")
        for name in Self.harmless + Self.inspecting { try unsafe allow(name, context) }
        try unsafe allowWithConditions(context)
        try check(unsafe seccomp_load(context), "seccomp_load")
    }

    private func allowWithConditions(_ context: scmp_filter_ctx) throws(Unavailable) {
        // The socket to the daemon.
        let socket = Condition.equals(0, UInt64(WorkerProtocol.socketDescriptor))
        try unsafe allow("sendmsg", context, socket)
        try unsafe allow("recvmsg", context, socket)
        // Threads, but no processes.
        try unsafe allow("clone", context, .bits(0, of: Self.cloneThread, are: Self.cloneThread))
        try unsafe rule("clone3", SHIM_DENY_KNOWLEDGE, context)
        try unsafe allow("prctl", context, .equals(0, Self.setName))
        // The process may only lower its own limits; it may signal its own threads, for abort(3).
        try unsafe allow("prlimit64", context, .equals(0, 0))
        try unsafe allow("tgkill", context, .equals(0, UInt64(getpid())))
        guard mayOpenFiles else { return }
        try unsafe allow("openat", context, .bits(2, of: Self.writingFlags, are: 0))
        try unsafe allow("open", context, .bits(1, of: Self.writingFlags, are: 0))
    }

    private func allow(
        _ name: String, _ context: scmp_filter_ctx, _ conditions: Condition...
    ) throws(Unavailable) {
        try unsafe rule(name, SHIM_ALLOW, context, conditions)
    }

    private func rule(
        _ name: String, _ action: UInt32, _ context: scmp_filter_ctx, _ conditions: [Condition] = []
    ) throws(Unavailable) {
        let number = unsafe seccomp_syscall_resolve_name(name)
        // Negative on architectures without the call, which then can't be used.
        guard number >= 0 else { return }
        let comparisons = conditions.map {
            scmp_arg_cmp(arg: $0.argument, op: $0.comparison, datum_a: $0.value, datum_b: $0.masked)
        }
        try check(
            unsafe seccomp_rule_add_array(
                context, action, number, UInt32(comparisons.count), comparisons), name)
    }

    private func check(_ code: CInt, _ what: String) throws(Unavailable) {
        guard code == 0 else { throw Unavailable(reason: "\(what): errno \(-code)") }
    }
}
